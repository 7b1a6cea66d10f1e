/**
 * `npm run bench:timers-profile`: schedules are created, changed and fired with V8's profiler on in
 * the server. Prints the largest costs of its main thread.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { summaryOf } from '../path/profile.ts';
import { ServerProcess } from '../path/server-process.ts';
import type { CpuProfile } from '../profile/flame-graph.ts';
import { getJson, sendAll } from './calls.ts';

const COUNT = 50_000;

async function create({ url }: ServerProcess): Promise<void> {
  await sendAll({ url: `${url}/v1/schedules/batch` }, COUNT, (n) => {
    const spec = { cron: `${n % 60} ${Math.floor(n / 60) % 24} * * *`, timeZone: 'Europe/Berlin' };
    return { op: 'put', id: `s${n}`, spec, task: { type: 'report', input: { n } } };
  });
}

async function change(server: ServerProcess): Promise<void> {
  await create(server);
  for (const jitterMs of [1000, 2000, 3000]) {
    await sendAll({ url: `${server.url}/v1/schedules/batch` }, COUNT, (n) => {
      return { op: 'patch', id: `s${n}`, jitterMs };
    });
  }
}

async function fire({ url }: ServerProcess): Promise<void> {
  const at = Date.now() + 20_000;
  await sendAll({ url: `${url}/v1/schedules/batch` }, COUNT, (n) => {
    return { op: 'put', id: `s${n}`, spec: { at }, task: { type: 'tick' } };
  });
  await sleep(Math.max(0, at - Date.now()));
  for (;;) {
    const { items } = await getJson<{ items: { depth: number }[] }>(`${url}/v1/queues`);
    if ((items.at(0)?.depth ?? 0) >= COUNT) return;
    await sleep(50);
  }
}

for (const [name, run] of Object.entries({ create, change, fire })) {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-profile-'));
  const server = await ServerProcess.startSources(['--cpu-prof', `--cpu-prof-dir=${folder}`]);
  try {
    await run(server);
  } finally {
    await server.stop();
  }
  const files = (await readdir(folder)).sort();
  const main = files.find((file) => /\.0\.\d+\.cpuprofile$/.test(file)) ?? files[0];
  const profile = JSON.parse(await readFile(join(folder, main), 'utf8')) as CpuProfile;
  process.stdout.write(`## ${name}\n\n${summaryOf(profile, COUNT)}\n\n`);
  await rm(folder, { recursive: true, force: true });
}
