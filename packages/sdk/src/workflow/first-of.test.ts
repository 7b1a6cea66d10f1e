import { expect, expectTypeOf, test } from 'vitest';
import { defineTask } from '../task/define-task.ts';
import { TestSluice } from '../test-sluice/test-sluice.ts';
import { defineWorkflow } from './define-workflow.ts';
import type { Step } from './reference.ts';
import { inputOf } from './workflow.ts';

const fly = defineTask({ type: 'fly', run: () => ({ code: 'plane' }) });
const drive = defineTask({ type: 'drive', run: () => ({ code: 'truck' }) });

const send = defineWorkflow(
  'send',
  { version: 1, input: inputOf<{ speed: 'express' | 'normal' }>() },
  (w) => {
    const sent = w.switch(w.input.speed, { express: (w) => w.step('fly', fly) }, (w) =>
      w.step('drive', drive),
    );
    const parcel = w.firstOf([sent.express, sent.otherwise]);
    expectTypeOf(parcel).toEqualTypeOf<Step<{ code: string } | null>>();
    return { by: parcel.output.code };
  },
);

test('firstOf has the output of the case that was taken', async () => {
  const tests = new TestSluice([fly, drive]);

  expect(send.definition.tasks.at(-1)).toEqual({
    name: 'first-1',
    taskReferenceName: 'first-1',
    type: 'EXCLUSIVE_JOIN',
    joinOn: ['fly', 'drive'],
  });
  for (const [speed, by] of [
    ['express', 'plane'],
    ['normal', 'truck'],
  ] as const) {
    expect(await (await tests.start(send, { speed })).result()).toEqual({ by });
  }
});

test('firstOf needs steps that come before', () => {
  const options = { version: 1 };

  // @ts-expect-error It needs a step.
  expect(() => defineWorkflow('none', options, (w) => w.firstOf([]))).toThrow('needs a step');
  expect(() =>
    defineWorkflow('race', options, (w) => {
      w.fork({
        left: (left) => {
          const own = left.step('fly', fly);
          w.fork({ right: (right) => right.firstOf([own]) });
        },
      });
    }),
  ).toThrow();
});
