/**
 * Kills a server again and again while many schedules fire once a second. Every expected fire must
 * have happened exactly once: a restart takes less than the ten seconds after which times count as
 * missed, so every time has its task.
 *
 *   npm run test:kill-schedules -- [--schedules 5000] [--kills 5] [--fold-kib 256]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { ServerProcess } from '../support/server-process.ts';
import { startSmallServer } from './data-folder.ts';
import { type Fire, judgeFires } from './schedule-verdict.ts';

const EVERY_MS = 1000;
const BETWEEN_KILLS_MS = 2500;
const BATCH = 1000;
const PROBLEMS_SHOWN_MAX = 20;

const { values } = parseArgs({
  options: {
    schedules: { type: 'string', default: '200' },
    kills: { type: 'string', default: '3' },
    'fold-kib': { type: 'string', default: '262144' },
  },
});
const [count, kills] = [Number(values.schedules), Number(values.kills)];
const foldKib = values['fold-kib'];

async function call(url: string, path: string, body?: object) {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' } };
  const request = body === undefined ? {} : { ...init, body: JSON.stringify(body) };
  const answer = await fetch(`${url}${path}`, request);
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
  return (await answer.json()) as never;
}

/** Puts the schedules. Their first times are spread over a second. */
async function putAll(url: string, startAt: number): Promise<void> {
  const changes = Array.from({ length: count }, (_, n) => ({
    op: 'put',
    id: `s${n}`,
    spec: { everyMs: EVERY_MS, startAt: startAt + (n % EVERY_MS) },
    task: { type: 'tick' },
  }));
  for (let from = 0; from < count; from += BATCH) {
    const { items } = (await call(
      url,
      '/v1/schedules/batch',
      changes.slice(from, from + BATCH),
    )) as { items: { ok?: true }[] };
    if (items.some(({ ok }) => ok !== true)) throw new Error('a schedule was refused');
  }
}

/** All tasks, by the tags that say which schedule made them, and for which time. */
async function allFires(url: string): Promise<Fire[]> {
  const fires: Fire[] = [];
  let cursor = '';
  do {
    const page = (await call(url, `/v1/tasks?type=tick&limit=1000${cursor}`)) as {
      readonly items: readonly { readonly tags: Record<string, string> }[];
      readonly nextCursor: string | null;
    };
    for (const { tags } of page.items) {
      const at = Date.parse(tags['sluice.scheduledAt']);
      fires.push({ schedule: tags['sluice.schedule'], at });
    }
    cursor = page.nextCursor === null ? '' : `&cursor=${page.nextCursor}`;
  } while (cursor !== '');
  return fires;
}

async function run(folder: string): Promise<string[]> {
  let server: ServerProcess | undefined;
  const start = async () => {
    const snapshotEveryBytes = Number(foldKib) * 1024;
    server = await startSmallServer({ dataFolder: folder, port: 0, snapshotEveryBytes });
    return server.url;
  };
  try {
    let url = await start();
    const startAt = Date.now() + 2000;
    await putAll(url, startAt);
    for (let kill = 1; kill <= kills; kill++) {
      await sleep(BETWEEN_KILLS_MS);
      await server?.kill();
      url = await start();
      process.stdout.write(`kill ${kill}: ${Date.now() - startAt} ms after the first time\n`);
    }
    await sleep(BETWEEN_KILLS_MS);
    // Paused ones fire no more, so that the end is the same for all.
    const ids = Array.from({ length: count }, (_, n) => `s${n}`);
    for (let from = 0; from < count; from += BATCH) {
      const patches = ids
        .slice(from, from + BATCH)
        .map((id) => ({ op: 'patch', id, paused: true }));
      await call(url, '/v1/schedules/batch', patches);
    }
    const fires = await allFires(url);
    process.stdout.write(`${fires.length} fires\n`);
    return judgeFires(fires, { count, startAt, everyMs: EVERY_MS, roundsMin: kills * 2 });
  } finally {
    await server?.kill();
  }
}

const folder = await mkdtemp(join(tmpdir(), 'sluice-schedule-kills-'));
try {
  const problems = await run(folder);
  for (const problem of problems.slice(0, PROBLEMS_SHOWN_MAX)) process.stdout.write(`${problem}\n`);
  process.stdout.write(`${problems.length} violations\n`);
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
