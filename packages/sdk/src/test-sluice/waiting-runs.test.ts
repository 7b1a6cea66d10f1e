/** Runs with loops, waits, scripts and people. */
import { beforeEach, describe, expect, test } from 'vitest';
import { defineTask } from '../task/define-task.ts';
import { Later, PermanentFailure } from '../task/failures.ts';
import { defineWorkflow } from '../workflow/define-workflow.ts';
import { inputOf } from '../workflow/workflow.ts';
import { TestSluice } from './test-sluice.ts';

const HOUR_MS = 3_600_000;

const apply = defineTask({
  type: 'apply',
  run: ({ shard }: { shard: string }) => {
    if (shard === 'bad') throw new PermanentFailure('no such table');
    return { rows: shard.length };
  },
});
const check = defineTask({
  type: 'check',
  run: ({ count }: { count: number }) => ({ done: count >= 3 }),
});

let tests: TestSluice;

beforeEach(() => {
  tests = new TestSluice([apply, check]);
});

const approval = defineWorkflow('approval', { version: 1 }, (w) => {
  const answer = w.human<{ by: string }>('approve', { title: 'May it go live?' });
  return { by: answer.output.by };
});

describe('loops', () => {
  const polling = defineWorkflow('polling', { version: 1 }, (w) => {
    const last = w.loop({ while: '$.check.done !== true', name: 'poll' }, (w, { count }) => {
      w.wait('pause', { seconds: 3600 });
      return w.step('check', check, { count });
    });
    return { done: last.output.done };
  });

  test('repeat while their condition holds, and time passes for their waits', async () => {
    const before = tests.now.getTime();
    const run = await tests.start(polling);

    expect(await run.result()).toEqual({ done: true });

    expect(tests.now.getTime() - before).toBe(3 * HOUR_MS);
    const { steps, counts } = await run.get();
    expect(steps.map(({ reference }) => reference)).toEqual([
      'poll',
      'pause__1',
      'check__1',
      'pause__2',
      'check__2',
      'pause__3',
      'check__3',
    ]);
    expect(counts).toEqual({ succeeded: 7 });
    expect(steps[3]).toMatchObject({
      type: 'WAIT',
      startedAt: '2030-01-01T01:00:00.000Z',
      endedAt: '2030-01-01T02:00:00.000Z',
      input: { duration: '3600 seconds' },
    });
    const task = await tests.tasks.get(steps[4].taskId ?? '');
    expect(task).toMatchObject({ runId: run.id, step: 'check__2' });
  });

  test('go over a list, in each iteration of another loop', async () => {
    const nested = defineWorkflow(
      'nested',
      { version: 1, input: inputOf<{ groups: { shards: string[] }[] }>() },
      (w) => {
        const last = w.loopOver(
          w.input.groups,
          (w, { item }) => {
            return w.loopOver(
              item.shards,
              (w, { item: shard }) => w.step('apply', apply, { shard }),
              { name: 'inner' },
            );
          },
          { name: 'outer' },
        );
        return { rows: last.output.rows };
      },
    );
    const groups = [{ shards: ['a', 'bb'] }, { shards: ['ccc'] }];

    const run = await tests.start(nested, { groups });

    expect(await run.result()).toEqual({ rows: 3 });
    const { steps } = await run.get();
    expect(steps.map(({ reference }) => reference)).toEqual([
      'outer',
      'inner__1',
      'inner__2',
      'apply__1__1',
      'apply__1__2',
      'apply__2__1',
    ]);
  });

  test('show the steps that fit, and the page with the others', async () => {
    const options = { version: 1, variables: { n: 0 }, input: inputOf<{ list: number[] }>() };
    const long = defineWorkflow('long', options, (w) => {
      w.loopOver(w.input.list, (w, { count }) => w.set({ n: count }));
    });
    const run = await tests.start(long, { list: Array.from({ length: 1100 }, () => 0) });

    const { status, steps, stepsCursor, variables } = await run.get();

    expect({ status, variables }).toEqual({ status: 'succeeded', variables: { n: 1100 } });
    expect(steps).toHaveLength(1000);
    expect(stepsCursor).not.toBeNull();
    const all: string[] = [];
    for await (const { reference } of tests.runs.steps(run)) all.push(reference);
    expect(all).toHaveLength(1101);
  });
});

describe('scripts', () => {
  const scripted = (script: string) =>
    defineWorkflow('scripted', { version: 1, input: inputOf<{ n: number }>() }, (w) => {
      const sum = w.inline<number>('sum', script, { n: w.input.n });
      const { large, otherwise } = w.switchBy(
        { script: "$.sum > 10 ? 'large' : 'small'", input: { sum: sum.output.result } },
        { large: (w) => w.inline<string>('big', '`${$.sum}!`', { sum: sum.output.result }) },
        (w) => w.inline<string>('little', "'?'"),
      );
      return {
        sum: sum.output.result,
        large: large.output.result,
        small: otherwise.output.result,
      };
    });

  test('compute and decide', async () => {
    const doubled = scripted('$.n * 2');

    const [large, small] = await tests.startMany(doubled, [{ n: 10 }, { n: 1 }]);

    expect(await large.result()).toEqual({ sum: 20, large: '20!', small: null });
    expect(await small.result()).toEqual({ sum: 2, large: null, small: '?' });
  });

  test('that fail, fail their step with the reason', async () => {
    const run = await tests.start(scripted("throw new Error('no shard')"), { n: 1 });

    await expect(run.result()).rejects.toThrow('the script failed: Error: no shard');
    const { reason, steps } = await run.get();
    expect(reason).toBe('script_failed');
    expect(steps[0]).toMatchObject({ reason: 'script_failed', input: { n: 1 }, output: null });
    expect(steps[0].error?.message).toContain('no shard');
  });

  test('that cannot be read are refused', async () => {
    await expect(tests.start(scripted('if ('), { n: 1 })).rejects.toMatchObject({
      code: 'invalid_definition',
      message: expect.stringContaining('/sum the script failed: SyntaxError'),
    });
  });
});

describe('steps that wait for a call', () => {
  test('end with the output of the call', async () => {
    const run = await tests.start(approval);

    const after = await run.complete('approve', { by: 'ada' });

    expect(after.status).toBe('succeeded');
    expect(await run.result()).toEqual({ by: 'ada' });
    expect(after.steps[0]).toMatchObject({
      input: { title: 'May it go live?' },
      output: { by: 'ada' },
    });
  });

  test('end without success, with the message of the call', async () => {
    const run = await tests.start(approval);

    await tests.runs.fail(run, 'approve', 'not today');

    await expect(run.result()).rejects.toMatchObject({
      step: 'approve',
      error: { message: 'not today', code: 'failed_by_call' },
    });
  });

  test('in a loop are named by their iteration', async () => {
    const twice = defineWorkflow('twice', { version: 1 }, (w) => {
      w.loop({ while: '$.loop.iteration < 2', name: 'loop' }, (w) => w.wait('signal'));
    });
    const run = await tests.start(twice);

    await run.complete('signal', 1);
    await expect(run.complete('signal__1', 1)).rejects.toMatchObject({ code: 'step_not_waiting' });
    await run.complete('signal__2', 2);

    expect((await run.get()).steps.map(({ output }) => output)).toEqual([null, 1, 2]);
  });

  test('that nobody ends are named, and how to end them', async () => {
    const run = await tests.start(approval);

    await expect(run.result()).rejects.toThrow(
      `run ${run.id} will never end: it waits for a call that ends approve (HUMAN): ` +
        "run.complete('approve', output)",
    );
    expect((await run.wait({ timeoutMs: 1000 })).status).toBe('running');
  });

  test('let time pass again when they end', async () => {
    const slow = defineTask({ type: 'slow', run: (): number | Later => Later });
    tests = new TestSluice([slow]);
    const delayed = defineWorkflow('delayed', { version: 1 }, (w) => {
      w.step('slow', slow);
      w.wait('pause', { seconds: 60 });
    });
    const run = await tests.start(delayed);
    const result = run.wait();
    const [{ taskId }] = (await run.wait({ timeoutMs: 10 })).steps;

    await tests.task(taskId ?? '').complete(1);

    expect((await result).status).toBe('succeeded');
  });

  test('calls about what is not there are refused', async () => {
    const run = await tests.start(approval);

    await expect(run.complete('aprove')).rejects.toMatchObject({
      code: 'step_not_found',
      status: 404,
      message: "the run has no step 'aprove'",
    });
    await expect(run.complete('approve', 'x'.repeat(300_000))).rejects.toMatchObject({
      code: 'payload_too_large',
    });
    await expect(run.fail('approve', {} as never)).rejects.toMatchObject({
      code: 'invalid_request',
    });
    await run.complete('approve');
    await expect(run.complete('approve')).rejects.toMatchObject({ code: 'run_finished' });
    await expect(tests.runs.pause('r_none')).rejects.toMatchObject({ code: 'run_not_found' });
  });
});

describe('pauses and timeouts', () => {
  test('a paused run begins no step, and says so', async () => {
    const two = defineWorkflow('two', { version: 1 }, (w) => {
      w.wait('first');
      w.step('apply', apply, { shard: 'a' });
    });
    const run = await tests.start(two);

    expect((await run.pause()).status).toBe('paused');
    await run.complete('first');

    await expect(run.result()).rejects.toThrow('it is paused, until run.resume()');
    expect((await run.get()).counts).toEqual({ succeeded: 1, pending: 1 });
    expect((await run.resume()).status).toBe('running');
    expect(await run.result()).toEqual({ rows: 1 });
    await expect(run.pause()).rejects.toMatchObject({ code: 'run_finished' });
  });

  test('a run that takes too long times out', async () => {
    const bounded = defineWorkflow('bounded', { version: 1, timeoutSeconds: 60 }, (w) => {
      w.human('approve');
    });
    // The key expires before the run does, and is no reason to stop the clock.
    const run = await tests.start(bounded, undefined, { dedupeKey: 'k', dedupeWindowMs: 1000 });

    await expect(run.result()).rejects.toMatchObject({ status: 'timed_out' });
  });
});

test('an event ends its step at once, with what was published', async () => {
  const paid = defineWorkflow('paid', { version: 3, input: inputOf<{ order: number }>() }, (w) => {
    const told = w.event('tell', 'order.paid', { order: w.input.order, by: 'card' });
    w.event('call', { webhook: 'https://example.com/hook' }, { order: w.input.order });
    return { event: told.output.event_produced, order: told.output.order };
  });
  expect(paid.definition.tasks).toMatchObject([
    { type: 'EVENT', sink: 'sluice:order.paid' },
    { type: 'EVENT', sink: 'webhook:https://example.com/hook' },
  ]);

  const run = await tests.start(paid, { order: 7 });

  expect(await run.result()).toEqual({ event: 'order.paid', order: 7 });
  const { steps } = await run.get();
  expect(steps[0].output).toEqual({
    order: 7,
    by: 'card',
    workflowInstanceId: run.id,
    workflowType: 'paid',
    workflowVersion: 3,
    correlationId: null,
    event_produced: 'order.paid',
  });
});
