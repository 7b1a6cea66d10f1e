import { TASK_STATES } from '@sluice/core';
import { expect, test } from 'vitest';
import { event, SUBMIT, state, TestStory } from '../testing/test-story.ts';
import { Leases } from './leases.ts';
import { TaskLives } from './task-lives.ts';

const REPORT = { type: 'report_attempts', reports: [] } as const;

function begun(): TestStory {
  const story = new TestStory(
    (of) => new TaskLives(of),
    (of) => new Leases(of),
  );
  return story.happens(SUBMIT, [event('task_submitted'), event('attempt_leased')]);
}

test('only a retry changes a task that has ended (retry.patched-before)', () => {
  const ended = () => {
    const story = new TestStory((of) => new TaskLives(of));
    return story.happens(SUBMIT, [
      event('task_submitted'),
      event('task_ended', { state: state('failed') }),
    ]);
  };
  const patched = [event('task_patched')];
  expect(() => ended().happens({ type: 'retry_tasks' }, patched)).not.toThrow();
  expect(() => ended().happens({ type: 'patch_tasks' }, patched)).toThrow(/^I3/);
});

test('the life of a task that fails, is run again, succeeds and is forgotten', () => {
  expect(() =>
    begun()
      .happens(REPORT, [event('attempt_started'), event('attempt_failed', { retryAt: 2000 })])
      .after(1000)
      .happens({ type: 'advance_time' }, [event('task_due'), event('attempt_leased', { lease: 2 })])
      .happens({ type: 'expire_sessions' }, [event('attempt_returned')])
      .happens({ type: 'pause_task' }, [event('task_paused')])
      .happens({ type: 'resume_task' }, [event('task_resumed')])
      .happens({ type: 'cancel_tasks' }, [
        event('task_ended', { state: TASK_STATES.indexOf('cancelled') }),
      ])
      .happens({ type: 'retry_tasks' }, [
        event('task_retried'),
        event('attempt_leased', { lease: 3 }),
      ])
      .happens(REPORT, [event('attempt_succeeded')])
      .happens(SUBMIT, [event('task_forgotten'), event('task_submitted', { task: 2 })]),
  ).not.toThrow();
});

test('a task that was submitted by nobody is noticed', () => {
  const story = begun();
  expect(() => story.happens(REPORT, [event('attempt_started', { task: 7 })])).toThrow(/^I2/);
  expect(() => begun().happens(REPORT, [event('task_submitted', { task: 2 })])).toThrow(/^I2/);
  expect(() => begun().happens(SUBMIT, [event('task_submitted')])).toThrow(/^I2/);
});

test('a task that ends twice is noticed', () => {
  const story = begun().happens(REPORT, [event('attempt_succeeded')]);
  expect(() => story.happens(REPORT, [event('attempt_failed')])).toThrow(/^I3/);
});

test('a task that succeeded and runs again is noticed', () => {
  const story = begun().happens(REPORT, [event('attempt_succeeded')]);
  expect(() => story.happens({ type: 'retry_tasks' }, [event('task_retried')])).toThrow(/^I3/);
});

test('a task that ends in a state that is no end is noticed', () => {
  const running = TASK_STATES.indexOf('running');
  expect(() =>
    begun().happens({ type: 'end_task' }, [event('task_ended', { state: running })]),
  ).toThrow(/^I3/);
});

test('a task that is forgotten before its end is noticed', () => {
  expect(() => begun().happens(SUBMIT, [event('task_forgotten')])).toThrow(/^I1/);
});

test('a second lease of one task is noticed', () => {
  expect(() => begun().happens(REPORT, [event('attempt_leased', { lease: 2 })])).toThrow(/^I4/);
});

test('a report on a task that nobody holds is noticed', () => {
  const story = begun().happens({ type: 'expire_sessions' }, [event('attempt_returned')]);
  expect(() => story.happens(REPORT, [event('attempt_succeeded')])).toThrow(/^I4/);
});

test('a lease number that does not grow is noticed', () => {
  const story = begun().happens({ type: 'expire_sessions' }, [event('attempt_returned')]);
  expect(() => story.happens(REPORT, [event('attempt_leased', { lease: 1 })])).toThrow(/^I4/);
});

test('two tasks in one slot are noticed', () => {
  expect(() => begun().happens(SUBMIT, [event('task_submitted', { task: 2 })])).toThrow(/^I37/);
  expect(() => begun().happens(REPORT, [event('attempt_succeeded', { slot: 3 })])).toThrow(/^I37/);
});
