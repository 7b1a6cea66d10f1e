import { expect, test } from 'vitest';
import { event, SUBMIT, TestStory } from '../testing/test-story.ts';
import { RedriveRates } from './redrives.ts';

const START = { type: 'start_redrive' } as const;
const TICK = { type: 'advance_time' } as const;
const again = (task = 1) => event('task_retried', { task, redrive: 7 });

/** Two dead letters, and a redrive of ten per second. */
function begun(fields: object = {}): TestStory {
  const story = new TestStory((of) => new RedriveRates(of));
  for (const task of [1, 2]) {
    const failed = event('attempts_exhausted', { task });
    story.happens(SUBMIT, [event('task_submitted', { task }), event('attempt_leased', { task })]);
    story.happens({ type: 'expire_sessions' }, [failed]);
  }
  const started = { redrive: 7, taskType: '', ratePer1000Sec: 10_000, ...fields };
  return story.happens(START, [event('redrive_started', started)]);
}

test('dead letters run again at the rate of the redrive', () => {
  expect(() =>
    begun()
      .happens(TICK, [again()])
      .after(50)
      .happens(TICK, [again(2), event('redrive_ended', { redrive: 7 })]),
  ).not.toThrow();
});

test('too many at once are noticed', () => {
  expect(() => begun().happens(TICK, [again(), again(2)])).toThrow(/^I18/);
});

test('a task that was no dead letter when it began is noticed', () => {
  const story = begun()
    .happens(TICK, [again(), event('attempt_leased')])
    .after(500);
  const failed = event('attempts_exhausted');
  expect(() => story.happens(TICK, [failed, again()])).toThrow(/^I3/);
});

test('a task outside of its scope is noticed', () => {
  expect(() => begun({ taskType: 'b' }).happens(TICK, [again()])).toThrow(/^I39/);
  expect(() => begun({ namespace: 'foreign' }).happens(TICK, [again()])).toThrow(/^I39/);
});

test('a redrive that goes on after its end is noticed', () => {
  const story = begun().happens({ type: 'end_redrive' }, [event('redrive_ended', { redrive: 7 })]);
  expect(() => story.happens(TICK, [again()])).toThrow(/^I42/);
});
