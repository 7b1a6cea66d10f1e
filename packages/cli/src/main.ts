import { DEV_HELP, dev } from './dev.command.ts';
import { type CommandIo, ExitCode } from './exit-code.ts';
import { suggest } from './suggestion.ts';
import { UsageError } from './usage-error.ts';
import { VERSION } from './version.ts';

type Run = (args: readonly string[], io: CommandIo) => Promise<ExitCode>;

const COMMANDS: Readonly<Record<string, { readonly run: Run; readonly help: string }>> = {
  dev: { run: dev, help: DEV_HELP },
};

const HELP = `Sluice ${VERSION}: runs tasks on workers that have room, and loses none.

Usage: sluice COMMAND [flags]

  dev          run a server for one machine

  --help       this text, or that of a command: sluice dev --help
  --version    the version`;

async function main(args: readonly string[], io: CommandIo): Promise<ExitCode> {
  const [name, ...rest] = args;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    io.stdout(HELP);
    return name === undefined ? ExitCode.usage : ExitCode.done;
  }
  if (name === '--version') {
    io.stdout(VERSION);
    return ExitCode.done;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) {
    const close = suggest(name, Object.keys(COMMANDS));
    const hint = close === undefined ? 'see sluice --help' : `did you mean '${close}'?`;
    throw new UsageError(`unknown command '${name}'; ${hint}`);
  }
  return command.run(rest, io);
}

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());

const io: CommandIo = {
  stdout: (line) => process.stdout.write(`${line}\n`),
  stderr: (line) => process.stderr.write(`${line}\n`),
  stop: stop.signal,
};

try {
  process.exitCode = await main(process.argv.slice(2), io);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  io.stderr(`sluice: ${error.message}`);
  process.exitCode = ExitCode.usage;
}
// A stopped server may leave client connections open; nothing is owed to them.
process.exit();
