import { type TaskNumber, taskIdText } from '@sluice/core';
import type { SubmitOutcome } from '@sluice/sdk/logic';
import { expect, test } from 'vitest';
import { SdkCalls } from './sdk-calls.ts';
import { event, payload, SUBMIT, TestStory } from './testing/test-story.ts';

const REFUSED = { type: 'refused' } as SubmitOutcome;

function begun(...numbers: readonly number[]) {
  const made: { calls?: SdkCalls } = {};
  const story = new TestStory((of) => {
    const calls = new SdkCalls(of);
    made.calls = calls;
    return calls;
  });
  const { calls } = made;
  if (calls === undefined) throw new Error('no rule was made');
  calls.called(numbers);
  return { story, calls };
}

function store(story: TestStory, task: number, number: number): string {
  const input = payload(`{"n":${number},"runMs":1}`);
  story.happens(SUBMIT, [event('task_submitted', { task, slot: task, input })]);
  return taskIdText({ submittedAt: story.now, partition: 0, number: task as TaskNumber });
}

function submitted(...ids: readonly string[]): SubmitOutcome {
  const tasks = ids.map((id) => ({ id, state: 'queued', deduplicated: false }));
  return { type: 'submitted', tasks };
}

test('a call whose tasks are stored under the ids that its caller has passes', () => {
  const { story, calls } = begun(7, 8);
  const ids = [store(story, 1, 7), store(story, 2, 8)];
  calls.heard([7, 8], submitted(...ids));

  expect(() => calls.ended()).not.toThrow();
});

test('a task that is stored twice is noticed', () => {
  const { story } = begun(7);
  store(story, 1, 7);
  expect(() => store(story, 2, 7)).toThrow(/^I7/);
});

test('a task that is stored again after a standstill is noticed, told late or not', () => {
  const { story } = begun(7);
  story.lateMs = 66_000;
  store(story, 1, 7);
  story.lateMs = 0;
  story.now += 66_000;
  expect(() => store(story, 2, 7)).toThrow(/^I7/);
});

test('a clock that was set forward ends the time of a key', () => {
  const { story } = begun(7);
  store(story, 1, 7);
  story.now += 66_000;

  expect(() => store(story, 2, 7)).not.toThrow();
});

test('an id of another task, or of none, is noticed', () => {
  const { story, calls } = begun(7, 8);
  const ids = [store(story, 1, 7), store(story, 2, 8)];
  expect(() => calls.heard([7, 8], submitted(ids[1], ids[0]))).toThrow(/^I1/);
  expect(() => begun(9).calls.heard([9], submitted('t_1'))).toThrow(/^I1/);
});

test('a refused call whose tasks are stored, before or after, is noticed', () => {
  const { story, calls } = begun(7);
  store(story, 1, 7);
  expect(() => calls.heard([7], REFUSED)).toThrow(/^I2/);
  const { story: other, calls: others } = begun(7);
  others.heard([7], REFUSED);
  expect(() => store(other, 1, 7)).toThrow(/^I2/);
});

test('half of a call is noticed', () => {
  const { story, calls } = begun(7, 8);
  store(story, 1, 7);
  expect(() => calls.ended()).toThrow(/^I2/);
});
