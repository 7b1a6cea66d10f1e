import { parseArgs } from 'node:util';
import { suggest } from '@sluice/protocol/suggestion';
import { type CommandIo, ExitCode } from './exit-code.ts';
import { flagProblem, UsageError } from './usage-error.ts';

type Run = (args: readonly string[], io: CommandIo) => Promise<ExitCode>;

/** A command of `sluice`, with everything that help and completion need. */
export interface Command {
  readonly summary: string;
  readonly help: string;
  readonly run: Run;
  readonly flags: readonly string[];
  /** Subcommands of a group, by name. */
  readonly commands?: Readonly<Record<string, Command>>;
}

interface FlagSpec {
  /** Placeholder of the value in help; absent for a flag without a value. */
  readonly value?: string;
  readonly short?: string;
  readonly help: string;
  /** The flag may be repeated. */
  readonly isMultiple?: boolean;
}

type Flags = Readonly<Record<string, FlagSpec>>;

type FlagValues<F extends Flags> = {
  readonly [K in keyof F]?: F[K] extends { readonly isMultiple: true }
    ? readonly string[]
    : F[K] extends { readonly value: string }
      ? string
      : boolean;
};

interface CommandSpec<F extends Flags> {
  /** The full name: `task submit`. */
  readonly name: string;
  readonly summary: string;
  /** More than the summary says, in whole lines. */
  readonly details?: string;
  /** Names of arguments, in capitals; one that ends in `...` takes all the rest. */
  readonly args?: readonly string[];
  readonly flags: F;
  readonly examples: readonly string[];
  readonly run: (
    call: { readonly args: readonly string[]; readonly flags: FlagValues<F> },
    io: CommandIo,
  ) => Promise<ExitCode>;
}

const HELP_FLAG: FlagSpec = { short: 'h', help: 'show this help' };

/** A command with flags and arguments; its help is derived from the same definition. */
export function defineCommand<F extends Flags>(spec: CommandSpec<F>): Command {
  const flags: Flags = { ...spec.flags, help: HELP_FLAG };
  const help = helpOf(spec, flags);
  return {
    summary: spec.summary,
    help,
    flags: Object.keys(flags),
    run: async (args, io) => {
      const { values, positionals } = parse(args, flags);
      if (values.help === true) {
        io.stdout(help);
        return ExitCode.done;
      }
      checkCount(spec, positionals);
      return spec.run({ args: positionals, flags: values as FlagValues<F> }, io);
    },
  };
}

/** Commands under one name, such as `sluice task …`. */
export function defineGroup(
  name: string,
  summary: string,
  commands: Readonly<Record<string, Command>>,
): Command {
  const help = `${summary}.

Usage: sluice ${name} COMMAND

${listOf(commands)}

More about a command: sluice ${name} COMMAND --help`;
  return {
    summary,
    help,
    flags: [],
    commands,
    run: async ([word, ...rest], io) => {
      if (word === undefined) {
        io.stderr(help);
        return ExitCode.usage;
      }
      if (word === '--help' || word === '-h') {
        io.stdout(help);
        return ExitCode.done;
      }
      return find(commands, word, `${name} `).run(rest, io);
    },
  };
}

/** Finds a command by its name, or suggests the nearest one. */
export function find(
  commands: Readonly<Record<string, Command>>,
  word: string,
  before = '',
): Command {
  const found = Object.hasOwn(commands, word) ? commands[word] : undefined;
  if (found !== undefined) return found;
  if (word.startsWith('-')) throw new UsageError(misplacedFlag(word, before));
  const close = suggest(word, Object.keys(commands));
  const help = `see sluice ${before}--help`;
  const hint = close === undefined ? help : `did you mean '${before}${close}'?`;
  throw new UsageError(`unknown command '${before}${word}'; ${hint}`);
}

/** Flags that stand alone, without a command. */
const LONE_FLAGS = ['help', 'version'];

function misplacedFlag(word: string, before: string): string {
  const near = suggest(word.replace(/^-+/, ''), before === '' ? LONE_FLAGS : ['help']);
  if (near !== undefined) return `unknown flag ${word}; did you mean --${near}?`;
  return `${word} stands before the command; flags go behind it: sluice ${before}COMMAND ${word} …`;
}

export function listOf(commands: Readonly<Record<string, Command>>): string {
  const width = Math.max(...Object.keys(commands).map(({ length }) => length)) + 2;
  return Object.entries(commands)
    .map(([name, { summary }]) => `  ${name.padEnd(width)}${lowerFirst(summary)}`)
    .join('\n');
}

/** Placeholder for a duration in help. */
export const DURATION = 'DURATION';

const DURATION_RULE = `A ${DURATION} is 500ms, 30s, 5m, 2h or 1d; a number alone is milliseconds.`;

function helpOf<F extends Flags>(spec: CommandSpec<F>, flags: Flags): string {
  const { name, summary, details, args = [], examples } = spec;
  const rows = Object.entries(flags).map(([flag, { value, help }]) => {
    return [value === undefined ? `--${flag}` : `--${flag} ${value}`, help] as const;
  });
  const width = Math.max(...rows.map(([left]) => left.length)) + 2;
  return [
    `${summary}.${details === undefined ? '' : `\n\n${details}`}`,
    `Usage: ${['sluice', name, ...args, '[flags]'].join(' ')}`,
    rows.map(([left, help]) => `  ${left.padEnd(width)}${help}`).join('\n'),
    ...(Object.values(flags).some(({ value }) => value === DURATION) ? [DURATION_RULE] : []),
    `Examples:\n${examples.map((example) => `  ${example}`).join('\n')}`,
  ].join('\n\n');
}

function parse(args: readonly string[], flags: Flags) {
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, { value, short, isMultiple = false }]) => {
      const type = value === undefined ? ('boolean' as const) : ('string' as const);
      return [name, { type, multiple: isMultiple, ...(short === undefined ? {} : { short }) }];
    }),
  );
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (cause) {
    throw new UsageError(flagProblem(cause as NodeJS.ErrnoException, Object.keys(flags)), {
      cause,
    });
  }
}

function checkCount<F extends Flags>(spec: CommandSpec<F>, given: readonly string[]): void {
  const { name, args = [] } = spec;
  const required = args.filter((arg) => !arg.startsWith('['));
  if (given.length < required.length) {
    throw new UsageError(
      `'sluice ${name}' needs ${required[given.length].replace('...', '')}; ` +
        `see sluice ${name} --help`,
    );
  }
  const takesAll = args.at(-1)?.includes('...') ?? false;
  if (!takesAll && given.length > args.length) {
    throw new UsageError(`unexpected argument '${given[args.length]}'`);
  }
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
