/**
 * `npm run bench:runs-profile`: runs of three steps, 64 at once, with V8's profiler on in the
 * server. Prints the CPU time of each process for a run, and the largest costs of the server's
 * main thread.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTask, Sluice } from '@sluice/sdk';
import { summaryOf } from '../path/profile.ts';
import { ServerProcess } from '../path/server-process.ts';
import type { CpuProfile } from '../profile/flame-graph.ts';
import { INPUT, SHAPES, step } from './contender.ts';
import { definition, TYPE } from './contenders/sluice.ts';

const RUNS = 20_000;
const AT_ONCE = 64;
const [, shape] = SHAPES;

const folder = await mkdtemp(join(tmpdir(), 'sluice-profile-'));
try {
  const server = await ServerProcess.startSources(['--cpu-prof', `--cpu-prof-dir=${folder}`]);
  const sluice = new Sluice({ url: server.url });
  await sluice.work([defineTask({ type: TYPE, run: step })], { slots: 1000 });
  await sluice.workflows.put(definition(shape));
  const startedAt = performance.now();
  const before = process.cpuUsage();
  let left = RUNS;
  const lane = async (): Promise<void> => {
    while (left-- > 0) await (await sluice.start(shape.name, INPUT)).result();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(before);
  await sluice.close();
  await server.stop();
  console.log(`${Math.round(RUNS / seconds)} runs/s with the profiler on`);
  console.log(`client and worker: ${Math.round((user + system) / RUNS)} µs of CPU for a run\n`);
  for (const file of (await readdir(folder)).sort()) {
    const thread = /\.(\d+)\.\d+\.cpuprofile$/.exec(file)?.[1] ?? '0';
    const profile = JSON.parse(await readFile(join(folder, file), 'utf8')) as CpuProfile;
    console.log(`## server, thread ${thread}\n\n${summaryOf(profile, RUNS)}\n`);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
