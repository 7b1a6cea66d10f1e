import { beforeEach, describe, expect, expectTypeOf, test } from 'vitest';
import { RunFailed } from '../calls/sluice-error.ts';
import { defineTask } from '../task/define-task.ts';
import { Later, PermanentFailure } from '../task/failures.ts';
import { defineWorkflow } from '../workflow/define-workflow.ts';
import { inputOf } from '../workflow/workflow.ts';
import { TestSluice } from './test-sluice.ts';

const charge = defineTask({
  type: 'charge',
  retry: { maxAttempts: 2, delayMs: 60_000 },
  run: ({ amount }: { amount: number }, { attempt }) => {
    if (amount > 100) throw new PermanentFailure('card declined');
    if (amount > 50 && attempt === 1) throw new Error('no answer');
    return { receipt: `r-${amount}` };
  },
});
const pack = defineTask({
  type: 'pack',
  run: ({ receipt }: { receipt: string }) => receipt.length,
});
const fly = defineTask({ type: 'fly', run: () => ({ flight: 7 }) });
const review = defineTask({ type: 'review', run: (): { ok: boolean } | Later => Later });
const nobody = defineTask<object, string>({ type: 'nobody' });

const order = defineWorkflow(
  'order',
  {
    version: 1,
    input: inputOf<{ amount: number; speed?: string }>(),
    inputTemplate: { speed: 'normal' },
    variables: { sent: 'no' },
  },
  (w) => {
    const paid = w.step('charge', charge, { amount: w.input.amount });
    const { size } = w.fork({
      size: (w) => w.step('pack', pack, { receipt: paid.output.receipt }),
      mark: (w) => w.set({ sent: `for ${paid.output.receipt}` }),
    });
    const sent = w.switch(w.input.speed, { express: (w) => w.step('fly', fly) });
    return {
      receipt: paid.output.receipt,
      size: size.output,
      flight: sent.express.output.flight,
      sent: w.variables.sent,
    };
  },
);

let tests: TestSluice;

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

beforeEach(() => {
  tests = new TestSluice([charge, pack, fly, review]);
});

test('a run has the typed output of its workflow', async () => {
  const run = await tests.start(order, { amount: 12, speed: 'express' });
  const result = await run.result();

  expect(result).toEqual({ receipt: 'r-12', size: 4, flight: 7, sent: 'for r-12' });
  expectTypeOf(result).toEqualTypeOf<{
    readonly receipt: string;
    readonly size: number;
    readonly flight: number | null;
    readonly sent: string;
  }>();
});

test('a value that is absent is null, and defaults fill the input', async () => {
  const run = await tests.start(order, { amount: 12 });

  expect(await run.result()).toMatchObject({ flight: null });
  expect(await run.get()).toMatchObject({
    status: 'succeeded',
    version: 1,
    input: { amount: 12, speed: 'normal' },
    variables: { sent: 'for r-12' },
    counts: { succeeded: 6, skipped: 1 },
  });
});

test('handlers can be replaced', async () => {
  const mocked = new TestSluice([{ ...charge, run: () => ({ receipt: 'mock' }) }, pack, fly]);

  const run = await mocked.start(order, { amount: 1000 });

  expect((await run.result()).receipt).toBe('mock');
});

test('time passes for the retries of a step', async () => {
  const before = tests.now.getTime();
  const run = await tests.start(order, { amount: 60 });

  await run.result();

  expect(tests.now.getTime() - before).toBeGreaterThanOrEqual(60_000);
  const { steps } = await run.get();
  expect(steps[0]).toMatchObject({ reference: 'charge', state: 'succeeded', attempt: 2 });
});

test('a failure names the run, the step and its error', async () => {
  const run = await tests.start(order, { amount: 101 });

  const failure = (await run.result().catch((cause: unknown) => cause)) as RunFailed;

  expect(failure).toBeInstanceOf(RunFailed);
  expect(failure.message).toBe(`run ${run.id} (order) ended as failed: step charge: card declined`);
  expect(failure).toMatchObject({ id: run.id, status: 'failed', step: 'charge' });
  expect(failure.error).toMatchObject({ message: 'card declined' });
  expect(failure.run.steps.map(({ state }) => state)).toContain('skipped');
});

test('a run is cancelled with its tasks', async () => {
  const waiting = defineWorkflow('waiting', { version: 1 }, (w) => w.step('review', review));
  const run = await tests.start(waiting);

  const cancelled = await run.cancel();

  expect(cancelled.status).toBe('cancelled');
  await expect(run.result()).rejects.toThrow('ended as cancelled: the run was cancelled');
  expect(await tests.tasks.get(cancelled.steps[0].taskId ?? '')).toMatchObject({
    state: 'cancelled',
    runId: run.id,
    step: 'review',
  });
  const { id } = await tests.start(order, { amount: 1 });
  await tests.run(id).result();
  await expect(tests.runs.cancel(id)).rejects.toMatchObject({ code: 'run_finished' });
});

test('a step that ends by a call from outside goes on', async () => {
  const waiting = defineWorkflow('waiting', { version: 1 }, (w) => w.step('review', review));
  const run = await tests.start(waiting);
  const [{ taskId }] = (await run.wait({ timeoutMs: 10 })).steps;

  await tests.task<{ ok: boolean }>(taskId ?? '').complete({ ok: true });

  expect(await run.result()).toEqual({ ok: true });
});

test('a wait that is over before the run has ended is a timeout', async () => {
  const waiting = defineWorkflow('waiting', { version: 1 }, (w) => w.step('review', review));
  const run = await tests.start(waiting);

  await expect(run.result({ timeoutMs: 1000 })).rejects.toMatchObject({ code: 'wait_timeout' });
  expect((await run.wait({ timeoutMs: 1000 })).status).toBe('running');
  await expect(run.wait({ signal: AbortSignal.abort('gone') })).rejects.toBe('gone');
});

test('time passes while a handler waits for a run', async () => {
  const parent = defineTask({
    type: 'parent',
    run: async ({ amount }: { amount: number }): Promise<string> => {
      const run = await tests.start(order, { amount });
      return (await run.result()).receipt;
    },
  });
  tests = new TestSluice([charge, pack, fly, parent]);

  const task = await tests.submit(parent, { amount: 60 });

  expect(await task.result()).toBe('r-60');
});

test('a handler that waits for a run that will never end says why', async () => {
  const stuck = defineWorkflow('stuck', { version: 1 }, (w) => w.step('nobody', nobody, {}));
  const parent = defineTask({
    type: 'parent',
    run: async (): Promise<string> => (await tests.start(stuck)).result(),
  });
  tests = new TestSluice([parent]);

  const task = await tests.submit(parent);

  await expect(task.result()).rejects.toThrow(
    /^task t_\w+ will never end: its handler waits for r_\w+; .*\(nobody\): .*no worker/,
  );
});

test('a run that will never end says why', async () => {
  const stuck = defineWorkflow('stuck', { version: 1 }, (w) => w.step('nobody', nobody, {}));
  const run = await tests.start(stuck);

  await expect(run.result()).rejects.toThrow(
    /^run r_\w+ will never end: it waits for t_\w+; t_\w+ \(nobody\): .*no worker/,
  );
});

test('a delayed step runs at its time', async () => {
  const later = defineWorkflow('later', { version: 1 }, (w) => {
    w.step('fly', fly, {}, { startDelay: 3600 });
  });
  const run = await tests.start(later);

  await tests.advance(3_599_000);
  expect((await run.get()).status).toBe('running');
  await tests.advance(1000);

  expect((await run.get()).status).toBe('succeeded');
});

test('many steps without tasks need no time', async () => {
  const long = defineWorkflow('long', { version: 1, variables: { n: 0 } }, (w) => {
    for (let n = 1; n <= 1500; n++) w.set({ n });
  });

  const run = await tests.start(long);

  expect(await run.get()).toMatchObject({ status: 'succeeded', variables: { n: 1500 } });
});

describe('definitions', () => {
  const changed = defineWorkflow('order', { version: 1 }, (w) => w.step('fly', fly));

  test('a version with another definition is refused, before and after its runs', async () => {
    await tests.start(order, { amount: 1 });

    await expect(tests.start(changed)).rejects.toMatchObject({
      code: 'version_in_use',
      message:
        "version 1 of 'order' is registered with another definition; " +
        'raise the version in defineWorkflow',
    });
    await expect(tests.workflows.put(changed)).rejects.toMatchObject({ code: 'version_in_use' });
  });

  test('a workflow that was deleted is registered again', async () => {
    await tests.start(order, { amount: 1 });
    await tests.workflows.delete('order', 1);

    const run = await tests.start(order, { amount: 2 });

    expect((await run.result()).receipt).toBe('r-2');
  });

  test('are listed, read and deleted', async () => {
    const plan = await tests.workflows.put(order, { dryRun: true });
    const first = await tests.workflows.put(order);
    const again = await tests.workflows.put(order);
    const second = await tests.workflows.put({
      ...changed,
      definition: { ...changed.definition, version: 2 },
    });

    expect([plan, first, again, second].map(({ change }) => change)).toEqual([
      'new',
      'new',
      'unchanged',
      'new',
    ]);
    expect(await all(tests.workflows.list())).toMatchObject([
      { name: 'order', versions: [{ version: 2 }, { version: 1, steps: 7 }] },
    ]);
    expect((await tests.workflows.get('order')).versions).toHaveLength(2);
    expect((await tests.workflows.version('order', 1)).definition).toEqual(order.definition);
    await expect(tests.workflows.get('other')).rejects.toMatchObject({ status: 404 });
    await expect(tests.workflows.version('order', 3)).rejects.toMatchObject({ status: 404 });
    await expect(tests.workflows.delete('order', 3)).rejects.toMatchObject({ status: 404 });
  });

  test('that the core cannot run are refused with every problem', async () => {
    const bad = defineWorkflow('bad', { version: 1 }, (w) => {
      w.human('approve');
      w.step('fly', fly, {}, { retry: { maxAttempts: -1 } });
    });

    await expect(tests.start(bad)).rejects.toMatchObject({ code: 'invalid_definition' });
  });
});

describe('starts', () => {
  test('many are one run per input', async () => {
    const runs = await tests.startMany(order, [{ amount: 1 }, { amount: 2 }], ({ amount }) => ({
      correlationId: `c-${amount}`,
      tags: { size: 'small' },
    }));

    expect(
      (await Promise.all(runs.map((run) => run.result()))).map(({ receipt }) => receipt),
    ).toEqual(['r-1', 'r-2']);
    const found = await all(tests.runs.list({ correlationId: 'c-2' }));
    expect(found.map(({ id }) => id)).toEqual([runs[1].id]);
    expect((await tests.runs.page({ tags: { size: 'small' }, limit: 1 })).items[0].id).toBe(
      runs[1].id,
    );
    expect((await all(tests.runs.list())).length).toBe(2);
    expect(await all(tests.runs.list({ status: 'failed' }))).toEqual([]);
    expect(await all(tests.runs.list({ until: tests.now }))).toEqual([]);
    const steps = await all(tests.runs.steps(runs[0]));
    expect(steps.map(({ reference }) => reference)[0]).toBe('charge');
  });

  test('a key finds the run again', async () => {
    const options = { dedupeKey: 'k' };
    const first = await tests.start(order, { amount: 1 }, options);
    const again = await tests.start(order, { amount: 1 }, options);

    expect(again).toMatchObject({ id: first.id, deduplicated: true });
    await expect(tests.start(order, { amount: 2 }, options)).rejects.toMatchObject({
      code: 'dedupe_mismatch',
    });
  });

  test('by name need a registered workflow', async () => {
    await expect(tests.start('order', { amount: 1 })).rejects.toMatchObject({
      code: 'workflow_not_found',
      message: "no workflow 'order'",
    });
    await tests.workflows.put(order);

    const run = await tests.start<{ receipt: string }>('order', { amount: 1 });

    expect((await run.result()).receipt).toBe('r-1');
    await expect(tests.start('order', {}, { version: 9 })).rejects.toThrow('with version 9');
    await expect(tests.start(order, { amount: 1 }, { version: 9 })).rejects.toThrow(
      "the workflow 'order' has the version 1; to start version 9, start it by its name",
    );
  });

  test('that are not valid say where', async () => {
    await tests.workflows.put(order);

    await expect(tests.start('order', 1, { priority: 9 })).rejects.toThrow(
      '/priority must be <= 8',
    );
    await expect(tests.startMany('order', [1, 2], { priority: 9 })).rejects.toThrow('/0/priority');
    await expect(tests.start('order', 1, { dedupeWindowMs: 5000 })).rejects.toThrow(
      '/dedupeWindowMs needs a dedupeKey',
    );
    await expect(tests.runs.get('r_none')).rejects.toMatchObject({ code: 'run_not_found' });
  });
});

test('the changes of a step are events of its task', async () => {
  const events = tests.events({ type: 'fly' });
  await tests.start(order, { amount: 1, speed: 'express' });

  const seen: string[] = [];
  for await (const event of events) {
    if (event.kind !== 'change') continue;
    seen.push(event.to);
    if (event.to === 'succeeded') break;
  }

  expect(seen).toEqual(['queued', 'leased', 'running', 'succeeded']);
});
