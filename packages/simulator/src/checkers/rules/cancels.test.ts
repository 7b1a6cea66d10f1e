import { expect, test } from 'vitest';
import { event, reason, SUBMIT, state, TestStory } from '../testing/test-story.ts';
import { Cancels } from './cancels.ts';

const STOPPING = event('attempt_stopping', { reason: reason('cancelled') });
const CANCELLED = event('task_ended', { state: state('cancelled') });

function begun(isLeased: boolean): TestStory {
  const story = new TestStory((of) => new Cancels(of));
  const lease = isLeased ? [event('attempt_leased')] : [];
  return story.happens(SUBMIT, [event('task_submitted'), ...lease]);
}

function cancel(story: TestStory, ...events: Parameters<TestStory['happens']>[1] & object) {
  const command = { type: 'cancel_tasks', ids: [story.id()] } as const;
  return story.happens(command, events, { outcomes: [{}] });
}

test('a cancel ends the task, at once or when its worker stops', () => {
  cancel(begun(false), CANCELLED);
  const story = cancel(begun(true), STOPPING);
  cancel(story);
  story.happens({ type: 'report_attempts' }, [event('attempt_started')]);
  story.happens({ type: 'advance_time' }, [CANCELLED]);

  expect(() => cancel(story)).not.toThrow();
});

test('a task that is cancelled and succeeds is noticed', () => {
  const story = () => cancel(begun(true), STOPPING);
  const report = { type: 'report_attempts' } as const;
  expect(() => story().happens(report, [event('attempt_succeeded')])).toThrow(/^I25/);
  expect(() => story().happens(report, [event('attempt_returned')])).toThrow(/^I25/);
  const succeeded = event('task_ended', { state: state('succeeded') });
  expect(() => story().happens({ type: 'end_task' }, [succeeded])).toThrow(/^I25/);
});

test('a cancel that is acknowledged and does nothing is noticed', () => {
  expect(() => cancel(begun(false))).toThrow(/^I25/);
  expect(() => cancel(begun(true))).toThrow(/^I25/);
});
