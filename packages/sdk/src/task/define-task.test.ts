import type { TaskRequest } from '@sluice/protocol';
import { expect, expectTypeOf, test } from 'vitest';
import { Sluice } from '../node/sluice.ts';
import { defaultsOf, defineTask, type TaskBody, taskBody } from './define-task.ts';
import { Later } from './failures.ts';
import type { TaskHandle } from './task-handle.ts';

const transcode = defineTask({
  type: 'transcode',
  resources: { cpu: 2, memoryMb: 2048 },
  retry: { maxAttempts: 5 },
  concurrency: 3,
  async run(input: { url: string; height: number }, { signal, progress, log }) {
    await progress(0.5, 'first pass');
    await log(`aborted: ${signal.aborted}`);
    return { url: `${input.url}.${input.height}.mp4` };
  },
});

test('input and output flow from the definition into submit and result', () => {
  const sluice = new Sluice();
  type Handle = Awaited<ReturnType<typeof submit>>;
  const submit = () => sluice.submit(transcode, { url: 'u', height: 720 }, { priority: 7 });

  expectTypeOf<Handle>().toEqualTypeOf<TaskHandle<{ url: string }>>();
  // @ts-expect-error the height is missing
  expectTypeOf(() => sluice.submit(transcode, { url: 'u' })).toBeFunction();
  expectTypeOf(() => sluice.submitMany(transcode, [{ url: 'u', height: 1 }])).returns.toEqualTypeOf<
    Promise<TaskHandle<{ url: string }>[]>
  >();
  // @ts-expect-error one of them is no input
  expectTypeOf(() => sluice.submitMany(transcode, [7])).toBeFunction();
  expectTypeOf(() => sluice.submit('elsewhere', 7)).returns.toEqualTypeOf<
    Promise<TaskHandle<unknown>>
  >();
});

test('an output that may come later is the rest of what the handler returns', () => {
  const review = defineTask({
    type: 'review',
    async run(input: { isEasy: boolean }) {
      return input.isEasy ? { verdict: 'fine' } : Later;
    },
  });
  const elsewhere = defineTask<number, string>({ type: 'elsewhere' });
  const handle = () => new Sluice().submit(review, { isEasy: true });

  expectTypeOf(handle).returns.toEqualTypeOf<Promise<TaskHandle<{ verdict: string }>>>();
  expectTypeOf(() => new Sluice().submit(elsewhere, 7)).returns.toEqualTypeOf<
    Promise<TaskHandle<string>>
  >();
});

test('the options of the definition travel with a submit, and what it says itself wins', () => {
  const body = taskBody(transcode, { url: 'u' }, { priority: 7, retry: { maxAttempts: 1 } });

  expect(body).toEqual({
    type: 'transcode',
    input: { url: 'u' },
    resources: { cpu: 2, memoryMb: 2048 },
    retry: { maxAttempts: 1 },
    priority: 7,
  });
  expect(defaultsOf(transcode)).toEqual({
    resources: { cpu: 2, memoryMb: 2048 },
    retry: { maxAttempts: 5 },
  });
});

test('a date is sent as text', () => {
  const runAt = new Date(Date.UTC(2030, 0, 1));

  expect(taskBody('a', null, { runAt })).toMatchObject({ runAt: '2030-01-01T00:00:00.000Z' });
});

test('what is sent is what the contract knows', () => {
  expectTypeOf<keyof TaskRequest>().toEqualTypeOf<keyof TaskBody>();
});

test('a type that no server takes is refused where it is defined', () => {
  expect(() => defineTask({ type: 'two words' })).toThrow("'two words' is not a valid task type");
  expect(() => defineTask({ type: '' })).toThrow(TypeError);
});
