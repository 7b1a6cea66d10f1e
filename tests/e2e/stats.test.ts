import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ApiClient } from './api-client.ts';
import { SessionUnderTest } from './session-under-test.ts';

const WINDOWS = { '10m': 1000, '24h': 60_000, '30d': 3_600_000 };

const SUCCESS = { kind: 'succeeded' };
const FAILURE = { kind: 'failed', error: { message: 'no' } };

let folder: string;
let server: ServerProcess;
let api: ApiClient;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-stats-'));
  await start();
});

afterEach(async () => {
  api.close();
  await server.kill();
  await rm(folder, { recursive: true });
});

async function start(): Promise<void> {
  server = await ServerProcess.startDev(folder);
  api = new ApiClient(server.url, 'http1');
}

async function stopAndStart(): Promise<void> {
  api.close();
  server.signal('SIGTERM');
  await server.exited();
  await start();
}

interface Point {
  readonly in: number;
  readonly out: number;
  readonly failed: number;
  readonly depth: readonly number[];
  readonly latencyMs: { readonly p50: number | null };
}

/** The sum of all points of a window. */
async function totals(window: string) {
  const { body } = await api.get(`/v1/stats?window=${window}`);
  const items: Point[] = body.items;
  const sum = (of: (point: Point) => number): number => items.reduce((all, it) => all + of(it), 0);
  return {
    stepMs: body.stepMs,
    in: sum((point) => point.in),
    out: sum((point) => point.out),
    failed: sum((point) => point.failed),
    deepest: Math.max(0, ...items.map(({ depth }) => depth[3])),
  };
}

async function runTasks(): Promise<void> {
  const session = new SessionUnderTest(server.url, 'http1');
  const { sessionId } = await session.welcomed();
  for (const report of [SUCCESS, FAILURE, SUCCESS]) {
    await api.post('/v1/tasks', { type: 'hello', retry: { maxAttempts: 1 } });
    const { lease } = await session.takeTask();
    await api.report(sessionId, [{ lease, ...report }]);
  }
  await api.post('/v1/tasks', { type: 'nobody-works-on-this', priority: 3 });
  session.disconnect();
}

async function areCounted(): Promise<void> {
  const isCounted = async (): Promise<boolean> => (await totals('10m')).in >= 4;
  await waitUntil(isCounted, { what: 'the tasks are counted', timeoutMs: 20_000 });
}

test('figures tell what happened, in each window, also after a restart', async () => {
  await runTasks();
  await areCounted();

  for (const moment of ['before', 'after']) {
    for (const [window, stepMs] of Object.entries(WINDOWS)) {
      expect(await totals(window), moment).toEqual({
        stepMs,
        in: 4,
        out: 3,
        failed: 1,
        deepest: 1,
      });
    }
    if (moment === 'before') await stopAndStart();
  }
});

test('a file that is damaged costs the figures and nothing else', async () => {
  await runTasks();
  await areCounted();
  api.close();
  server.signal('SIGTERM');
  await server.exited();
  await writeFile(join(folder, 'stats.json'), '{"10m":[{"at":1}]}');

  await start();
  expect((await totals('24h')).in).toBe(0);
  expect((await api.get('/v1/tasks')).body.items).toHaveLength(4);
});

test('a window that is none is refused by name', async () => {
  const { status, body } = await api.get('/v1/stats?window=1y');

  expect([status, body.error.code]).toEqual([400, 'invalid_request']);
  expect(JSON.stringify(body.error)).toContain('window');
});
