import { once } from 'node:events';
import { resolve } from 'node:path';
import type { Server } from '@sluice/server';
import { defineCommand } from './command.ts';
import { type CommandIo, ExitCode } from './exit-code.ts';
import { UsageError } from './usage-error.ts';
import { VERSION } from './version.ts';

const HOST = '127.0.0.1';
const DEFAULT_PORT = 7420;
const DEFAULT_DATA = '.sluice';

export const dev = defineCommand({
  name: 'dev',
  summary: 'Run a server for one machine: everything in one process, data in a folder',
  flags: {
    port: {
      value: 'N',
      help: `port on ${HOST} (default ${DEFAULT_PORT}; 0 takes any free one)`,
    },
    data: { value: 'DIR', help: `folder that holds the data (default ./${DEFAULT_DATA})` },
  },
  examples: ['sluice dev', 'sluice dev --port 8000 --data /var/lib/sluice'],
  run: ({ flags }, io) => serve(portOf(flags.port), flags.data ?? DEFAULT_DATA, io),
});

/** Serves until it is told to stop, or until the server can no longer keep its promises. */
async function serve(port: number, data: string, io: CommandIo): Promise<ExitCode> {
  if (data === '') throw new UsageError('--data needs the name of a folder');
  const dataFolder = resolve(data);
  const failed = new AbortController();
  const server = await startOrExplain({ port, dataFolder, failed, io });
  if (server === undefined) return ExitCode.refused;

  io.stdout(greeting(server.url, dataFolder));
  await firstOf(io.stop, failed.signal);
  if (failed.signal.aborted) {
    io.stderr(`sluice: ${(failed.signal.reason as Error).message}`);
    return ExitCode.refused;
  }
  io.stderr('sluice: stopping');
  await server.close();
  return ExitCode.done;
}

interface StartArgs {
  readonly port: number;
  readonly dataFolder: string;
  readonly failed: AbortController;
  readonly io: CommandIo;
}

async function startOrExplain(args: StartArgs): Promise<Server | undefined> {
  const { port, dataFolder, failed, io } = args;
  // Only here: loading the server takes longer than most commands do.
  const { Server } = await import('@sluice/server');
  try {
    return await Server.start({
      host: HOST,
      port,
      dataFolder,
      version: VERSION,
      onFatal: (cause) => failed.abort(cause),
    });
  } catch (cause) {
    const error = cause as NodeJS.ErrnoException;
    io.stderr(
      error.code === 'EADDRINUSE'
        ? `sluice: port ${port} is in use; choose another one with --port`
        : `sluice: cannot start: ${error.message}`,
    );
    return undefined;
  }
}

function portOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_PORT;
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new UsageError(`--port takes a number from 0 to 65535, not '${text}'`);
}

function greeting(url: string, dataFolder: string): string {
  return `Sluice ${VERSION} is ready at ${url}
data in ${dataFolder}

Submit a task:
  curl ${url}/v1/tasks -d '{"type": "hello", "input": {"name": "Ada"}}'

Be its worker:
  curl -N ${url}/v1/worker-sessions \\
    -d '{"name": "me", "types": [{"type": "hello"}], "leaseMs": 600000}'

How to report is in README.md.

Stop with Ctrl-C.`;
}

async function firstOf(...signals: readonly AbortSignal[]): Promise<void> {
  if (signals.some((signal) => signal.aborted)) return;
  await Promise.race(signals.map((signal) => once(signal, 'abort')));
}
