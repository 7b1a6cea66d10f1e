import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerRow } from '../measured-rows.ts';
import { ServerProcess } from '../path/server-process.ts';
import { getJson, sendAll } from './calls.ts';
import { memory } from './memory.ts';

const IDLE_MS = 10_000;
const HOUR_MS = 3_600_000;

type Figures = Readonly<Record<string, number>>;

async function withServer(run: (server: ServerProcess) => Promise<Figures>): Promise<Figures> {
  const server = await ServerProcess.start();
  try {
    return await run(server);
  } finally {
    await server.stop();
  }
}

async function idlePercent(server: ServerProcess): Promise<number> {
  const before = await server.cpuMs();
  await sleep(IDLE_MS);
  return ((await server.cpuMs()) - before) / (IDLE_MS / 100);
}

/** CPU time of the server per item, which other work on the machine changes little. */
async function cpuMicrosEach(
  server: ServerProcess,
  count: number,
  run: () => Promise<number>,
): Promise<{ readonly perSec: number; readonly cpuMicros: number }> {
  const before = await server.cpuMs();
  const perSec = await run();
  return { perSec, cpuMicros: (((await server.cpuMs()) - before) * 1000) / count };
}

async function restartSeconds(server: ServerProcess): Promise<number> {
  const startedAt = performance.now();
  await server.startAgain();
  return (performance.now() - startedAt) / 1000;
}

/** Once a day, at times that are spread over the day. */
function daily(n: number): object {
  const spec = { cron: `${n % 60} ${Math.floor(n / 60) % 24} * * *`, timeZone: 'Europe/Berlin' };
  return { spec, task: { type: 'report', input: { n } } };
}

function schedules(share: number): Promise<Figures> {
  const count = Math.ceil(100_000 * share);
  return withServer(async (server) => {
    const url = `${server.url}/v1/schedules/batch`;
    const put = await cpuMicrosEach(server, count, () =>
      sendAll({ url }, count, (n) => ({ op: 'put', id: `s${n}`, ...daily(n) })),
    );
    const idleCpuPercent = await idlePercent(server);
    const patch = await cpuMicrosEach(server, count, () =>
      sendAll({ url }, count, (n) => ({ op: 'patch', id: `s${n}`, jitterMs: 1000 })),
    );
    const restart = await restartSeconds(server);
    const again = `${server.url}/v1/schedules/batch`;
    const deletePerSec = await sendAll({ url: again }, count, (n) => ({
      op: 'delete',
      id: `s${n}`,
    }));
    return {
      putPerSec: put.perSec,
      putCpuMicros: put.cpuMicros,
      patchPerSec: patch.perSec,
      patchCpuMicros: patch.cpuMicros,
      deletePerSec,
      idleCpuPercent,
      restartSec: restart,
    };
  });
}

function delayed(share: number): Promise<Figures> {
  const count = Math.ceil(1_000_000 * share);
  return withServer(async (server) => {
    const before = await server.residentBytes();
    const url = `${server.url}/v1/tasks`;
    const ids: string[] = [];
    const heard = (answer: string, from: number) => {
      const { items } = JSON.parse(answer) as { items: { id: string }[] };
      for (const [place, { id }] of items.entries()) ids[from + place] = id;
    };
    const createPerSec = await sendAll({ url, heard }, count, (n) => {
      return { type: 'remind', delayMs: HOUR_MS + n, input: { n } };
    });
    const runAt = Date.now() + 2 * HOUR_MS;
    const editPerSec = await sendAll({ url, method: 'PATCH' }, Math.ceil(count / 4), (n) => {
      return { id: ids[n], runAt: new Date(runAt + n).toISOString() };
    });
    const bytesEach = ((await server.residentBytes()) - before) / count;
    const idleCpuPercent = await idlePercent(server);
    const restartSec = await restartSeconds(server);
    return { createPerSec, editPerSec, bytesEach, idleCpuPercent, restartSec };
  });
}

async function depth(url: string): Promise<number> {
  const { items } = await getJson<{ items: { type: string; depth: number }[] }>(`${url}/v1/queues`);
  return items.find(({ type }) => type === 'tick')?.depth ?? 0;
}

/** All at the same moment. */
function fires(share: number): Promise<Figures> {
  const count = Math.ceil(50_000 * share);
  return withServer(async (server) => {
    const url = `${server.url}/v1/schedules/batch`;
    const at = Date.now() + 15_000;
    const put = (n: number) => ({ op: 'put', id: `s${n}`, spec: { at }, task: { type: 'tick' } });
    await sendAll({ url }, count, put);
    await sleep(Math.max(0, at - Date.now() - 500));
    const fired = async () => {
      await sleep(Math.max(0, at - Date.now()));
      while ((await depth(server.url)) < count) await sleep(20);
      return count / ((Date.now() - at) / 1000);
    };
    const { perSec, cpuMicros } = await cpuMicrosEach(server, count, fired);
    return { firesPerSec: perSec, fireCpuMicros: cpuMicros };
  });
}

/** Ten a millisecond. */
function lateness(share: number): Promise<Figures> {
  const count = Math.ceil(20_000 * share);
  return withServer(async (server) => {
    const url = `${server.url}/v1/schedules/batch`;
    const start = Date.now() + 10_000;
    await sendAll({ url }, count, (n) => {
      const spec = { at: start + Math.floor(n / 10) };
      return { op: 'put', id: `s${n}`, spec, task: { type: 'tick' } };
    });
    await sleep(Math.max(0, start - Date.now()));
    while ((await depth(server.url)) < count) await sleep(200);
    const late = (await latenesses(server.url)).sort((a, b) => a - b);
    const at = (share: number) => late[Math.min(late.length - 1, Math.floor(late.length * share))];
    return { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
  });
}

async function latenesses(url: string): Promise<number[]> {
  const late: number[] = [];
  let cursor = '';
  do {
    const page = await getJson<{
      items: { submittedAt: string; tags: Record<string, string> }[];
      nextCursor: string | null;
    }>(`${url}/v1/tasks?type=tick&limit=1000${cursor}`);
    for (const { submittedAt, tags } of page.items) {
      late.push(Date.parse(submittedAt) - Date.parse(tags['sluice.scheduledAt']));
    }
    cursor = page.nextCursor === null ? '' : `&cursor=${page.nextCursor}`;
  } while (cursor !== '');
  return late;
}

export const ROWS: Readonly<Record<string, ServerRow>> = {
  schedules: {
    run: schedules,
    targets: {
      putPerSec: '20,000',
      patchPerSec: '20,000',
      deletePerSec: '20,000',
      idleCpuPercent: '2',
      restartSec: '2',
    },
  },
  delayed: { run: delayed, targets: { editPerSec: '50,000', restartSec: '2' } },
  memory: { run: memory, targets: { bytesEach: '400 beside the payload' } },
  fires: { run: fires, targets: { firesPerSec: '50,000' } },
  lateness: { run: lateness, targets: { p99Ms: '20' } },
};
