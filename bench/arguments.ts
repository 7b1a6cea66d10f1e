/** The command lines of benchmarks. */
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';

type ValuesOf<T extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: T }>
>['values'];

/** Parses the command line. For `--help` or an invalid option, the process ends here. */
export function readArguments<T extends ParseArgsOptionsConfig>(
  help: string,
  options: T,
): ValuesOf<T> {
  if (process.argv.includes('--help')) {
    process.stdout.write(help);
    process.exit(0);
  }
  try {
    return parseArgs({ options }).values;
  } catch (cause) {
    refuse((cause as Error).message);
  }
}

export function refuse(message: string): never {
  process.stderr.write(`bench: ${message}; see --help\n`);
  process.exit(2);
}

/** How often each row is measured. */
export function runsOf(text: string): number {
  const runs = Number(text);
  if (Number.isInteger(runs) && runs >= 1) return runs;
  refuse('--runs takes a number from 1 on');
}

export interface RowBench {
  /** Its name in `npm run`. */
  readonly command: string;
  readonly names: readonly string[];
  readonly runs: number;
  /** Share of the tasks with `--quick`. */
  readonly quickShare: number;
}

/** The rows and options that were requested. */
export interface RowChoice {
  readonly names: readonly string[];
  readonly runs: number;
  readonly share: number;
  readonly json: boolean;
}

export function chooseRows({ command, names, runs, quickShare }: RowBench): RowChoice {
  const help = `Usage: npm run ${command} -- [options]

Measures rows and prints their table: median and range of several runs, each with fresh processes.

  --only NAME   the rows whose names begin so
  --runs N      how often each is measured (default ${runs})
  --quick       1 of ${1 / quickShare} tasks, once: shows that the rows work, not how fast they are
  --json        one document in place of the table
  --help

Rows: ${names.join(', ')}
`;
  const values = readArguments(help, {
    only: { type: 'string', default: '' },
    runs: { type: 'string', default: String(runs) },
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  });
  const chosen = names.filter((name) => name.startsWith(values.only));
  if (chosen.length === 0) refuse(`no row begins with '${values.only}'`);
  return {
    names: chosen,
    runs: values.quick ? 1 : runsOf(values.runs),
    share: values.quick ? quickShare : 1,
    json: values.json,
  };
}
