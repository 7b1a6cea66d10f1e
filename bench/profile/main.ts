/**
 * `npm run bench:profile`: the throughput work of `npm run bench` with V8's profiler on in every
 * process of Sluice. Prints the largest costs of each thread, and writes a flame graph of each to
 * bench/results.
 */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { summaryOf } from '../path/profile.ts';
import { ServerProcess } from '../path/server-process.ts';
import { RemoteRole } from '../peers/remote-role.ts';
import { SLOTS } from '../peers/works/work.ts';
import { type CpuProfile, flameGraphOf } from './flame-graph.ts';

const TASKS = 200_000;
const CALL = { atOnce: 4, size: 100 };
const WITHIN_MS = 120_000;
const RESULTS = join(import.meta.dirname, '../results');

const folder = await mkdtemp(join(tmpdir(), 'sluice-profile-'));
const flags = (role: string) => ['--cpu-prof', `--cpu-prof-dir=${join(folder, role)}`];

try {
  const server = await ServerProcess.startSources(flags('server'));
  const place = { contender: 'sluice', address: server.url, queue: 'bench' };
  const client = await RemoteRole.start('client', place, flags('client'));
  const worker = await RemoteRole.start('worker', place, flags('worker'));
  await worker.call('work', { slots: SLOTS });
  const until = worker.call('until', { count: TASKS, withinMs: WITHIN_MS });
  await client.call('bulk', { count: TASKS, ...CALL });
  await until;
  await client.leave();
  await worker.leave();
  await server.stop();
  await mkdir(RESULTS, { recursive: true });
  for (const role of ['server', 'client', 'worker']) await show(role);
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** Each thread of the process has a separate file, with the thread's number in its name. */
async function show(role: string): Promise<void> {
  for (const file of (await readdir(join(folder, role))).sort()) {
    const thread = /\.(\d+)\.\d+\.cpuprofile$/.exec(file)?.[1];
    const name = thread === '0' ? role : `${role}-thread-${thread}`;
    const text = await readFile(join(folder, role, file), 'utf8');
    const profile = JSON.parse(text) as CpuProfile;
    await writeFile(join(RESULTS, `flame-${name}.svg`), flameGraphOf(profile, name));
    process.stdout.write(`## ${name}\n\n${summaryOf(profile, TASKS)}\n\n`);
  }
}
