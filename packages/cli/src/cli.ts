import { fstatSync } from 'node:fs';
import { NoServerError, RefusedError, StrangeServerError } from './api/api-errors.ts';
import { find } from './base/command.ts';
import { type CommandIo, ExitCode } from './base/exit-code.ts';
import { UsageError } from './base/usage-error.ts';
import { VERSION } from './base/version.ts';
import { buildCommit } from './build-commit.ts';
import { commandFirst } from './command-first.ts';
import { COMMANDS, HELP } from './commands.ts';
import { stopWithNpm } from './npm-parent.ts';
import { printable } from './screen/visible.ts';
import { StopSignals } from './stop-signals.ts';

async function main(args: readonly string[], io: CommandIo): Promise<ExitCode> {
  const [name, ...rest] = commandFirst(args);
  if (name === undefined) {
    io.stderr(HELP);
    return ExitCode.usage;
  }
  if (name === 'help' && rest.length > 0) return main([...rest, '--help'], io);
  if (name === '--help' || name === '-h' || name === 'help') {
    io.stdout(HELP);
    return ExitCode.done;
  }
  if (name === '--version' || name === '-v') {
    const commit = buildCommit();
    io.stdout(commit === undefined ? VERSION : `${VERSION} (${commit})`);
    return ExitCode.done;
  }
  return find(COMMANDS, name).run(rest, io);
}

const signals = new StopSignals({
  isTerminal: process.stderr.isTTY === true,
  ask: (question) => {
    // The line may have a bar, and what the terminal writes for Ctrl-C.
    io.terminal.drawOnStderr('\r\u001b[K');
    io.stderr(question);
  },
  exit: (code) => process.exit(code),
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => signals.take(signal));
}
stopWithNpm('npx', () => signals.abort());

/** A reader that closes the pipe early, such as `head`, is no error; a full disk is one. */
function onStdoutError(error: NodeJS.ErrnoException): never {
  if (error.code === 'EPIPE') process.exit();
  io.stderr(`sluice: cannot write the output: ${error.message}`);
  process.exit(ExitCode.refused);
}

process.stdout.on('error', onStdoutError);
// There is no other place to report it; the exit code still shows the result.
process.stderr.on('error', () => undefined);

const isTerminal = process.stdout.isTTY === true;

const io: CommandIo = {
  stdout: (line) => process.stdout.write(`${printable(line, { hasStyles: isTerminal })}\n`),
  stderr: (line) => process.stderr.write(`${printable(line, { hasStyles: false })}\n`),
  readStdin: async () => {
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  },
  get isPiped() {
    return isPipeOrFile(0);
  },
  env: process.env,
  terminal: {
    isStdout: isTerminal,
    isStderr: process.stderr.isTTY === true,
    get columns() {
      // A terminal that does not know its size reports 0.
      return process.stdout.columns || process.stderr.columns || 80;
    },
    get rows() {
      return process.stdout.rows || 24;
    },
    drawOnStderr: (text) => process.stderr.write(text),
    drawOnStdout: (text) => process.stdout.write(text),
  },
  stop: signals.stop,
  askFirst: (question) => signals.askFirst(question),
};

function isPipeOrFile(fd: number): boolean {
  try {
    const stats = fstatSync(fd);
    return stats.isFIFO() || stats.isFile() || stats.isSocket();
  } catch {
    // It was closed before we began.
    return false;
  }
}

/** Explains an expected failure in one line. Any other error is a bug and keeps its stack. */
function explain(error: Error): ExitCode {
  if (error instanceof UsageError) {
    io.stderr(`sluice: ${error.message}`);
    return ExitCode.usage;
  }
  if (error instanceof NoServerError || error instanceof StrangeServerError) {
    io.stderr(`sluice: ${error.message}`);
    return ExitCode.noServer;
  }
  if (error instanceof RefusedError) {
    io.stderr(`sluice: ${error.message}`);
    return ExitCode.refused;
  }
  if (signals.stop.aborted) return ExitCode.refused;
  throw error;
}

try {
  process.exitCode = await main(process.argv.slice(2), io);
} catch (error) {
  process.exitCode = explain(error as Error);
}
// A stopped server may leave client connections open, and the process need not wait for them. The
// output is flushed first, because a pipe takes it in pieces.
process.stdout.write('', (error) => (error ? onStdoutError(error) : process.exit()));
