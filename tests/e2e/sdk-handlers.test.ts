/** What handlers and workers of the SDK do beyond running a task, on a real server. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AttemptEvent, defineTask, Sluice, type WorkerNotice } from '@sluice/sdk';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';

const ROOT = join(import.meta.dirname, '../..');

const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;

let folder: string;
let server: ServerProcess;
let sluice: Sluice;
let warnings: string[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  server = await ServerProcess.startDev(folder);
});

afterAll(async () => {
  await server.kill();
  await rm(folder, { recursive: true });
});

beforeEach(() => {
  warnings = [];
  sluice = new Sluice({ url: server.url, onWarning: (message) => warnings.push(message) });
});

afterEach(() => sluice.close());

const options = { handleSignals: false, logFailures: false } as const;

async function childrenOf(id: string): Promise<string[]> {
  const answer = await fetch(`${server.url}/v1/tasks?parent=${id}`);
  const { items } = (await answer.json()) as { items: { id: string }[] };
  return items.map((task) => task.id).sort();
}

test('a retried parent finds its children (children.found-again)', async () => {
  const seen: string[][] = [];
  const square = defineTask({ type: 'square', run: (n: number) => n * n });
  const sum = defineTask({
    type: 'sum',
    retry: { maxAttempts: 3, delayMs: 1, jitter: false },
    async run(numbers: number[], { submit, submitMany, attempt }) {
      const first = await submit(square, 10);
      const others = await submitMany(square, numbers);
      seen.push([first, ...others].map(({ id }) => id).sort());
      if (attempt < 3) throw new Error('after the submits');
      const squares = await Promise.all([first, ...others].map((child) => child.result()));
      return squares.reduce((total, one) => total + one, 0);
    },
  });
  await sluice.work([sum, square], options);

  const parent = await sluice.submit(sum, [1, 2, 2]);

  expect(await parent.result()).toBe(109);
  expect(seen).toEqual([seen[0], seen[0], seen[0]]);
  await expect.poll(() => childrenOf(parent.id)).toEqual(seen[0]);
});

test('the entry for browsers has children, too', () => {
  const program = `
    import { defineTask, Sluice } from '@sluice/sdk';
    const sluice = new Sluice({ url: '${server.url}' });
    const child = defineTask({ type: 'browser-child', run: (n) => n + 1 });
    const parent = defineTask({
      type: 'browser-parent',
      run: async (n, { submit, now }) => [await (await submit(child, n)).result(), now() > 0],
    });
    await sluice.work([parent, child]);
    const task = await sluice.submit(parent, 1);
    console.log(JSON.stringify(await task.result()));
    await sluice.close();
  `;
  const args = ['--conditions=browser', '--input-type=module', '-e', program];

  const output = execFileSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });

  expect(output).toBe('[2,true]\n');
});

test('the events of attempts say what the server does', async () => {
  const events: AttemptEvent[] = [];
  const flaky = defineTask({
    type: 'flaky-events',
    retry: { maxAttempts: 2, delayMs: 1, jitter: false },
    run: () => Promise.reject(new Error('boom')),
  });
  await sluice.work([flaky], { ...options, onAttempt: (event) => void events.push(event) });

  const task = await sluice.submit(flaky, undefined);
  const { state, attempt } = await task.wait();

  expect([state, attempt]).toEqual(['failed', 2]);
  expect(events.map((event) => `${event.type} ${event.attempt}`)).toEqual([
    ...['started 1', 'failed 1', 'retrying 1', 'ended 1'],
    ...['started 2', 'failed 2', 'ended 2'],
  ]);
  expect(new Set(events.map(({ taskId }) => taskId))).toEqual(new Set([task.id]));
});

test('a definition that differs from the registered one is reported', async () => {
  const notices: WorkerNotice[] = [];
  const registered = defineTask({
    type: 'registered',
    priority: 6,
    resources: { cpu: 1.5, slots: 2, custom: { licence: 1 } },
    constraints: ['zone == eu'],
    retry: { maxAttempts: 5, backoff: 'linear' },
    timeouts: { runMs: 60_000 },
    tags: { team: 'a', color: 'red' },
    callback: { url: 'http://127.0.0.1:9/hook', on: ['failed'], secret: SECRET },
    run: () => null,
  });
  const { retry: _, ...changed } = { ...registered, type: 'changed', priority: 7 };
  await sluice.register(registered);
  await sluice.register({ ...registered, type: 'changed' });

  const onNotice = (notice: WorkerNotice) => void notices.push(notice);
  await sluice.work([registered, changed], { ...options, onNotice });
  const differs = () => notices.filter(({ type }) => type === 'definition_differs');
  await waitUntil(() => differs().length > 0, { what: 'a difference', timeoutMs: 30_000 });

  expect(differs()).toEqual([
    {
      type: 'definition_differs',
      taskType: 'changed',
      fields: ['priority', 'retry.backoff', 'retry.maxAttempts'],
    },
  ]);
});

test('a submit by name warns once, unless the type is registered', async () => {
  await sluice.register(defineTask({ type: 'by-name-known', priority: 7 }));

  await sluice.submit('by-name-known', null);
  await sluice.submit('by-name-typo', null);
  await sluice.submit('by-name-typo', null);
  await waitUntil(() => warnings.length > 0, { what: 'a warning', timeoutMs: 30_000 });
  await sluice.submit('by-name-typo', null);

  expect(warnings).toEqual([expect.stringContaining("'by-name-typo'")]);
});
