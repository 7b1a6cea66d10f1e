import { resolve } from 'node:path';
import { defineCommand } from './command.ts';
import type { CommandIo, ExitCode } from './exit-code.ts';
import { UsageError } from './usage-error.ts';
import { VERSION } from './version.ts';

const HOST = '127.0.0.1';
const LOOPBACK = ['127.0.0.0/8', '::1'];
const DEFAULT_PORT = 7420;
const DEFAULT_DATA = '.sluice';

export const dev = defineCommand({
  name: 'dev',
  summary: 'Run a server for one machine: everything in one program, data in a folder',
  flags: {
    port: {
      value: 'N',
      help: `port on ${HOST} (default ${DEFAULT_PORT}; 0 takes any free one)`,
    },
    data: { value: 'DIR', help: `folder that holds the data (default ./${DEFAULT_DATA})` },
    'no-agent': { help: 'start no agent beside it (there is none yet)' },
  },
  examples: ['sluice dev', 'sluice dev --port 8000 --data /var/lib/sluice'],
  run: ({ flags }, io) => runDev(portOf(flags.port), flags.data ?? DEFAULT_DATA, io),
});

/** A server as it comes, on this machine only: no file and no variable changes what it does. */
async function runDev(port: number, data: string, io: CommandIo): Promise<ExitCode> {
  if (data === '') throw new UsageError('--data needs the name of a folder');
  const dataFolder = resolve(data);
  // Only here: loading the server takes longer than most commands do.
  const { loadConfig, serverOptions } = await import('@sluice/server');
  const { serve } = await import('./serve.ts');
  const { config } = loadConfig({ flags: {}, env: {} });
  // Receivers that are tried out run here, too.
  const callbacks = { ...config.callbacks, allow: LOOPBACK };
  const own = { host: HOST, port, dataFolder, callbacks, logLevel: 'warn' } as const;
  const options = serverOptions({ ...config, ...own });
  return serve(options, io, (url) => greeting(url, dataFolder));
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
