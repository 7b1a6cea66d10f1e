import { resolve } from 'node:path';
import { startDevAgent } from './agent/dev-agent.ts';
import { defineCommand } from './base/command.ts';
import type { CommandIo, ExitCode } from './base/exit-code.ts';
import { UsageError } from './base/usage-error.ts';
import { VERSION } from './base/version.ts';

const HOST = '127.0.0.1';
const LOOPBACK = ['127.0.0.0/8', '::1'];
const DEFAULT_PORT = 7420;
const DEFAULT_DATA = '.sluice';

export const dev = defineCommand({
  name: 'dev',
  summary: 'Run a server for development on this machine',
  flags: {
    port: {
      value: 'N',
      help: `port on ${HOST} (default ${DEFAULT_PORT}; 0 takes any free port)`,
    },
    data: { value: 'DIR', help: `data folder (default ./${DEFAULT_DATA})` },
    'no-agent': { help: 'run no commands of tasks (docs/agent.md)' },
  },
  examples: ['sluice dev', 'sluice dev --port 8000 --data /var/lib/sluice'],
  run: ({ flags }, io) => {
    const hasAgent = flags['no-agent'] !== true;
    return runDev({ port: portOf(flags.port), data: flags.data ?? DEFAULT_DATA, hasAgent }, io);
  },
});

interface DevOptions {
  readonly port: number;
  readonly data: string;
  readonly hasAgent: boolean;
}

/** A server with default settings, on this machine only. No file or variable changes them. */
async function runDev({ port, data, hasAgent }: DevOptions, io: CommandIo): Promise<ExitCode> {
  if (data === '') throw new UsageError('--data needs a folder name');
  const dataFolder = resolve(data);
  // Loaded on demand: loading the server takes longer than most commands.
  const { loadConfig, serverOptions } = await import('@sluice/server');
  const { serve } = await import('./serve.ts');
  const { config } = loadConfig({ flags: {}, env: {} });
  // During development, callback receivers run on this machine, too.
  const callbacks = { ...config.callbacks, allow: LOOPBACK };
  const own = { host: HOST, port, dataFolder, callbacks, logLevel: 'warn' } as const;
  const options = serverOptions({ ...config, ...own });
  return serve(options, io, {
    greeting: (url) => greeting(url, dataFolder),
    ...(hasAgent ? { beside: (url: string) => startDevAgent(url, dataFolder, io) } : {}),
  });
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

Run a worker that gets it:
  curl -N ${url}/v1/worker-sessions \\
    -d '{"name": "me", "types": [{"type": "hello"}], "leaseMs": 600000}'

README.md shows how to report the result.

Stop with Ctrl-C.`;
}
