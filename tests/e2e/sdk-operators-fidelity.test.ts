/** The SDK for operators: a server and `TestSluice` must come to the same. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  defineTask,
  type ListedTask,
  PermanentFailure,
  Sluice,
  SluiceError,
  type TaskClient,
  type TaskEvent,
} from '@sluice/sdk';
import { TestSluice } from '@sluice/sdk/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';

const HOUR_MS = 3_600_000;

/** Fails until it is told otherwise. */
let mayWork = false;

const fragile = defineTask({
  type: 'fragile',
  retry: { maxAttempts: 1 },
  async run(input: { n: number }, { log }) {
    await log(`n is ${input.n}`);
    if (!mayWork) throw new PermanentFailure(`no ${input.n}`);
    return input.n * 2;
  },
});

const flaky = defineTask({
  type: 'flaky',
  retry: { maxAttempts: 2, delayMs: 1, jitter: false },
  run: (_: null, { attempt }) => {
    if (attempt === 1) throw new Error('not yet');
    return attempt;
  },
});

const late = defineTask<{ n: number }, number>({ type: 'late', run: ({ n }) => n });

let folder: string;
let server: ServerProcess;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-operators-'));
  server = await ServerProcess.startDev(folder);
});

afterAll(async () => {
  await server.kill();
  await rm(folder, { recursive: true });
});

const TASKS = [fragile, flaky, late];

/** Runs the scenario on a server, and in a test. Both must come to the same. */
async function playOnBoth<T>(scenario: (client: TaskClient) => Promise<T>): Promise<T> {
  mayWork = false;
  const sluice = new Sluice({ url: server.url });
  try {
    await sluice.work(TASKS, { handleSignals: false });
    const onServer = await scenario(sluice);
    mayWork = false;
    const inTest = await scenario(new TestSluice(TASKS));
    expect(inTest).toEqual(onServer);
    return onServer;
  } finally {
    await sluice.close();
  }
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

function numbers(tasks: readonly ListedTask[]): number[] {
  return tasks.map(({ input }) => (input as { n: number }).n);
}

async function codeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'ok',
    (cause: unknown) => (cause instanceof SluiceError ? cause.code : String(cause)),
  );
}

async function failed(client: TaskClient, count: number, tags: Record<string, string>) {
  const inputs = Array.from({ length: count }, (_, n) => ({ n }));
  const handles = await client.submitMany(fragile, inputs, { tags });
  await Promise.all(handles.map((handle) => handle.wait()));
  return handles;
}

test('tasks are listed whole or by pages, and by every condition', async () => {
  const seen = await playOnBoth(async (client) => {
    const parent = await client.submit(late, { n: 100 }, { delayMs: HOUR_MS });
    const before = new Date((await parent.get()).submittedAt as string);
    const inputs = [0, 1, 2, 3, 4].map((n) => ({ n }));
    await client.submitMany(late, inputs, ({ n }) => ({
      delayMs: HOUR_MS,
      tags: { list: 'a', odd: `${n % 2}` },
      parentId: parent.id,
    }));
    const scope = { type: 'late', tags: { list: 'a' } };
    const first = await client.tasks.page({ ...scope, limit: 2 });
    const second = await client.tasks.page({ ...scope, limit: 2, cursor: first.nextCursor });
    const count = async (query: Parameters<typeof client.tasks.list>[0]) =>
      (await all(client.tasks.list({ ...scope, ...query }))).length;
    return {
      whole: numbers(await all(client.tasks.list(scope))),
      pages: [numbers(first.items), numbers(second.items)],
      odd: numbers(await all(client.tasks.list({ tags: { list: 'a', odd: '1' } }))),
      children: await count({ parentId: parent.id }),
      waiting: await count({ state: 'waiting' }),
      queued: await count({ state: 'queued' }),
      text: await count({ text: '"n":3' }),
      since: await count({ since: before }),
      until: await count({ until: before }),
      strange: await codeOf(client.tasks.page({ cursor: 'not-one-of-ours' })),
      tooMany: await codeOf(client.tasks.page({ limit: 1001 })),
      badTime: await codeOf(client.tasks.page({ since: '2030-02-30T00:00:00Z' })),
    };
  });

  expect(seen).toEqual({
    whole: [4, 3, 2, 1, 0],
    pages: [
      [4, 3],
      [2, 1],
    ],
    odd: [3, 1],
    children: 5,
    waiting: 5,
    queued: 0,
    text: 1,
    since: 5,
    until: 0,
    strange: 'invalid_request',
    tooMany: 'invalid_request',
    badTime: 'invalid_request',
  });
});

test('many tasks are read, changed and cancelled, each with its outcome', async () => {
  const seen = await playOnBoth(async (client) => {
    const inputs = Array.from({ length: 4 }, (_, n) => ({ n }));
    const options = { delayMs: HOUR_MS, tags: { many: 'a' } };
    const [a, b, c, d] = await client.submitMany(late, inputs, options);
    const absent = 't_00000000000000000000000000';
    const read = await client.tasks.getMany([a, b.id, a, absent]);
    const updated = await client.tasks.updateMany([
      { id: a.id, priority: 8 },
      { id: absent, priority: 8 },
    ]);
    const refused = await codeOf(
      client.tasks.updateMany([
        { id: a.id, priority: 8 },
        { id: b.id, priority: 9 },
      ]),
    );
    const paused = await client.tasks.pause(b);
    const again = await client.tasks.pause(b);
    const resumed = await client.tasks.resume(b.id);
    const one = await client.tasks.cancel(a);
    const cancelled = await client.tasks.cancelMany([a, c, absent]);
    const filter = { type: 'late', tags: { many: 'a' } };
    const counted = await client.tasks.cancelMatching(filter, { dryRun: true });
    const matching = await client.tasks.cancelMatching(filter);
    const toRetry = await client.tasks.retryMatching(filter, { dryRun: true });
    const retried = await client.tasks.retryMany([a, absent, a]);
    return {
      retried: retried.map((outcome) => ('ok' in outcome ? outcome.state : outcome.error.code)),
      toRetry,
      read: [numbers(read.items), read.unknown.length],
      updated: updated.map((outcome) => ('ok' in outcome ? outcome.state : outcome.error.code)),
      priority: (await client.tasks.get(a)).priority,
      refused,
      states: [paused, again, resumed, one].map(({ state }) => state),
      cancelled: cancelled.map((outcome) => ('ok' in outcome ? outcome.state : outcome.error.code)),
      counted,
      matching,
      last: [(await d.get()).state, await codeOf(client.tasks.pause(d))],
      nothing: await codeOf(client.tasks.cancelMatching({})),
      badId: await codeOf(client.tasks.getMany(['no id'])),
      badState: await codeOf(client.tasks.page({ state: 'broken' as 'failed' })),
      none: [(await client.tasks.getMany([])).items, await client.tasks.cancelMany([])],
    };
  });

  expect(seen).toEqual({
    retried: ['leased', 'task_not_found', 'task_not_finished'],
    toRetry: { matched: 4, retried: 0, dryRun: true },
    read: [[0, 1], 1],
    updated: ['waiting', 'task_not_found'],
    priority: 8,
    refused: 'invalid_request',
    states: ['paused', 'paused', 'waiting', 'cancelled'],
    cancelled: ['cancelled', 'cancelled', 'task_not_found'],
    counted: { matched: 2, cancelled: 0, requested: 0, dryRun: true },
    matching: { matched: 2, cancelled: 2, requested: 0, dryRun: false },
    last: ['cancelled', 'task_finished'],
    nothing: 'invalid_request',
    badId: 'invalid_request',
    badState: 'invalid_request',
    none: [[], []],
  });
});

test('a task is retried with another input, also for its dedupe key', async () => {
  const seen = await playOnBoth(async (client) => {
    const key = { dedupeKey: `retried-${client instanceof TestSluice}` };
    const task = await client.submit(fragile, { n: 1 }, key);
    await task.wait();
    mayWork = true;
    const view = await client.tasks.retry(task, { input: { n: 21 } });
    const result = await task.result();
    const same = await client.submit(fragile, { n: 21 }, key);
    const old = await codeOf(client.submit(fragile, { n: 1 }, key));
    const unknown = await codeOf(client.tasks.retry(task, { inptu: 1 } as object));
    return [view.input, result, same.id === task.id, old, unknown];
  });

  expect(seen).toEqual([{ n: 21 }, 42, true, 'dedupe_mismatch', 'invalid_request']);
});

test('what failed is retried, redriven or discarded', async () => {
  const seen = await playOnBoth(async (client) => {
    const [first, second] = await failed(client, 5, { dead: 'a' });
    const scope = { type: 'fragile' };
    const dead = numbers(await all(client.deadLetters.list(scope))).sort();
    const page = await client.deadLetters.page({ ...scope, limit: 2 });
    const lines = await client.tasks.logs(first);
    mayWork = true;
    const retried = await client.tasks.retry(first);
    const result = await first.result();
    const again = await codeOf(client.tasks.retry(first));
    const dry = await client.deadLetters.redrive({ filter: scope, dryRun: true });
    const { count } = await client.deadLetters.redrive({ filter: scope, ratePerSec: 1000 });
    while ((await second.get()).state === 'failed') {
      if (client instanceof TestSluice) await client.advance(10);
    }
    const redriven = await second.result();
    mayWork = false;
    const [other] = await failed(client, 1, { dead: 'b' });
    const discarded = await client.deadLetters.discard({ filter: scope });
    return {
      dead,
      page: [page.items.length, page.nextCursor === null],
      lines: lines.map(({ attempt, line }) => [attempt, line]),
      retried: [retried.attempt, retried.output],
      result,
      again,
      dry,
      count,
      redriven,
      // A redrive may not be through with the others yet.
      discarded: discarded.discarded > 0,
      state: (await other.get()).state,
      left: (await all(client.deadLetters.list(scope))).length,
      redrives: (await all(client.deadLetters.redrives())).length <= 1,
      stopped: await codeOf(client.deadLetters.stopRedrive('d_999')),
      wrong: await codeOf(client.deadLetters.redrive({ ratePerSec: 0 })),
    };
  });

  expect(seen).toMatchObject({
    dead: [0, 1, 2, 3, 4],
    page: [2, false],
    lines: [[1, 'n is 0']],
    result: 0,
    again: 'task_finished',
    dry: { id: null, count: 4, dryRun: true },
    count: 4,
    redriven: 2,
    state: 'failed',
    left: 0,
    stopped: 'redrive_not_found',
    wrong: 'invalid_request',
  });
});

test('a paused queue holds its tasks back, and says so', async () => {
  const seen = await playOnBoth(async (client) => {
    const paused = await client.queues.pause('late');
    const task = await client.submit(late, { n: 7 }, { priority: 6 });
    const [queue] = (await all(client.queues.list())).filter(({ type }) => type === 'late');
    const { reasons } = await client.tasks.explain(task);
    const resumed = await client.queues.resume('late');
    return {
      paused: [paused.type, paused.paused, paused.workers],
      queue: [queue.depth, queue.depthByPriority[6]],
      reasons: reasons.map(({ code }) => code),
      resumed: resumed.paused,
      result: await task.result(),
      page: (await client.queues.page({ limit: 1 })).items.length,
      wrong: await codeOf(client.queues.pause('a b')),
    };
  });

  expect(seen).toEqual({
    paused: ['late', true, 1],
    queue: [1, 1],
    reasons: ['queue_paused'],
    resumed: false,
    result: 7,
    page: 1,
    wrong: 'invalid_request',
  });
});

/** The events of a task up to its end. */
async function untilEnd(events: AsyncIterable<TaskEvent>): Promise<string[]> {
  const seen: string[] = [];
  for await (const event of events) {
    if (event.kind === 'gap') seen.push('gap');
    // A worker need not report a start by itself.
    else if (event.to !== 'running') {
      const from = event.from === 'running' ? 'leased' : event.from;
      seen.push(`${from} > ${event.to}: ${event.reason} ${event.attempt}`);
    }
    if (event.kind === 'change' && ['succeeded', 'cancelled'].includes(event.to)) break;
  }
  return seen;
}

test('the changes of tasks are followed from the first to the last', async () => {
  const seen = await playOnBoth(async (client) => {
    const events = client.events({ type: 'flaky' });
    await events.opened;
    const [task, changes] = [await client.submit(flaky, null), untilEnd(events)];
    await task.result();
    const own = client.events({ type: 'late' });
    await own.opened;
    const held = await client.submit(late, { n: 1 }, { delayMs: HOUR_MS });
    await client.tasks.pause(held);
    await client.tasks.resume(held);
    await client.tasks.update(held, { runAt: new Date(Date.UTC(2040, 0, 1)) });
    await client.tasks.cancel(held);
    await client.tasks.retry(held);
    await held.result();
    return { changes: await changes, held: await untilEnd(own) };
  });

  expect(seen.changes).toEqual([
    'null > queued: submitted 0',
    'queued > leased: leased 1',
    'leased > waiting: backoff 1',
    'waiting > queued: due 1',
    'queued > leased: leased 2',
    'leased > succeeded: succeeded 2',
  ]);
  expect(seen.held).toEqual([
    'null > waiting: delayed 0',
    'waiting > paused: paused 0',
    'paused > waiting: resumed 0',
    'waiting > waiting: delayed 0',
    'waiting > cancelled: cancelled 0',
  ]);
});

test('events continue after an id, end with a signal, and name an unknown task', async () => {
  const seen = await playOnBoth(async (client) => {
    const events = client.events();
    await events.opened;
    const [first, second] = await client.submitMany(late, [{ n: 1 }, { n: 2 }], {
      delayMs: HOUR_MS,
    });
    let after = '';
    for await (const event of events) {
      after = event.lastEventId ?? '';
      if (event.kind === 'change' && event.task === second.id) break;
    }
    await client.tasks.cancelMany([first, second]);
    const later = await untilEnd(client.events({ after, task: second.id }));
    const controller = new AbortController();
    const aborted = codeOf(untilEnd(client.events({ signal: controller.signal })));
    controller.abort(new Error('enough'));
    const lost = await untilEnd(client.events({ after: '7', task: second.id }));
    return {
      later,
      aborted: await aborted,
      lost: lost[0],
      unknown: await codeOf(untilEnd(client.events({ task: 't_00000000000000000000000000' }))),
    };
  });

  expect(seen).toEqual({
    later: ['waiting > cancelled: cancelled 0'],
    aborted: 'Error: enough',
    lost: 'gap',
    unknown: 'task_not_found',
  });
});
