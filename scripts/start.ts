/**
 * `npm start`: a server for one machine, and a worker that does real work. Flags are passed on to
 * `sluice dev`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { stopWithNpm } from '../packages/cli/src/npm-parent.ts';
import { buildBundle } from './build-bundle.ts';
import { buildConsole } from './build-console.ts';

const ROOT = resolve(import.meta.dirname, '..');
const LAUNCHER = join(ROOT, 'packages/cli/bin/sluice');
const EXAMPLE = join(ROOT, 'examples/waveform/main.ts');

await Promise.all([buildConsole(), buildBundle()]);
const server = spawn(LAUNCHER, ['dev', ...process.argv.slice(2)], {
  stdio: ['inherit', 'pipe', 'inherit'],
});
let example: ChildProcess | undefined;

// Ctrl-C reaches all processes. A signal to this process alone is passed on.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, stop);
}
stopWithNpm('start', stop);

createInterface({ input: server.stdout }).on('line', (line) => {
  process.stdout.write(`${line}\n`);
  const [url] = /(?<=ready at )http\S+/.exec(line) ?? [];
  if (url === undefined) return;
  process.stdout.write(`open ${url} in a browser to see what it does\n`);
  example = startExample(url);
});

const [code] = await once(server, 'exit');
example?.kill('SIGTERM');
process.exitCode = typeof code === 'number' ? code : 1;

function stop(): void {
  example?.kill('SIGTERM');
  server.kill('SIGTERM');
}

function startExample(url: string): ChildProcess {
  const env = { ...process.env, SLUICE_URL: url };
  return spawn(process.execPath, [EXAMPLE], { stdio: 'inherit', env });
}
