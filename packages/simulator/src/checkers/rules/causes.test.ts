import { expect, test } from 'vitest';
import { event, reason, SUBMIT, state, TestStory } from '../testing/test-story.ts';
import { EventCauses } from './causes.ts';

function leased(): TestStory {
  const story = new TestStory((of) => new EventCauses(of));
  return story.happens(SUBMIT, [event('task_submitted'), event('attempt_leased')]);
}

const CANCELLED = event('task_ended', { state: state('cancelled') });
const EXPIRED = event('task_ended', { state: state('expired') });

test('events by what may lead to them pass', () => {
  expect(() =>
    leased()
      .happens({ type: 'cancel_tasks' }, [
        event('attempt_stopping', { reason: reason('cancelled') }),
      ])
      .happens({ type: 'expire_sessions' }, [CANCELLED])
      .happens({ type: 'retry_tasks' }, [event('task_retried')])
      .happens({ type: 'attach_session' }, [EXPIRED])
      .happens({ type: 'advance_time' }, [event('task_retried', { redrive: 3 })]),
  ).not.toThrow();
});

test('an end of an attempt that nobody reported is noticed', () => {
  const story = leased();
  expect(() => story.happens({ type: 'advance_time' }, [event('attempt_succeeded')])).toThrow(
    /^I5/,
  );
});

test('a change that nobody asked for is noticed', () => {
  expect(() => leased().happens({ type: 'advance_time' }, [event('task_paused')])).toThrow(/^I42/);
  expect(() => leased().happens({ type: 'expire_sessions' }, [CANCELLED])).toThrow(/^I42/);
  const dropped = event('dead_letter_dropped');
  expect(() => leased().happens(SUBMIT, [dropped])).toThrow(/^I42/);
});
