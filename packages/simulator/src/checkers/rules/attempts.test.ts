import { expect, test } from 'vitest';
import { event, reason, SUBMIT, TestStory } from '../testing/test-story.ts';
import { Attempts } from './attempts.ts';

const RETRY = '{"maxAttempts":2,"delayMs":100,"jitter":false}';

function leased(): TestStory {
  const story = new TestStory((of) => new Attempts(of));
  const submitted = event('task_submitted', { retry: RETRY });
  return story.happens(SUBMIT, [submitted, event('attempt_leased')]);
}

/** The worker reports that the attempt failed. */
function fail(story: TestStory, retryAt: number, report: object = {}): TestStory {
  const reports = [{ lease: story.lease(), kind: 'failed', ...report }];
  const failed = event('attempt_failed', { answer: 2, retryAt });
  return story.happens({ type: 'report_attempts', reports }, [failed]);
}

function again(story: TestStory): TestStory {
  const { now } = story;
  story.happens({ type: 'advance_time' }, [event('task_due'), event('attempt_leased')]);
  expect(story.now).toBe(now);
  return story;
}

const returned = (name: Parameters<typeof reason>[0], spent: boolean, retryAt = 0) =>
  event('attempt_returned', { reason: reason(name), spent, retryAt });

test('attempts up to the maximum, with the wait that the policy says', () => {
  fail(again(fail(leased(), 1100).after(100)), 0);
  fail(leased(), 0, { retryable: false });

  expect(() => fail(leased(), 1007, { retryAfterMs: 7 })).not.toThrow();
});

test('a task that is given up too early or tried too often is noticed', () => {
  expect(() => fail(leased(), 0)).toThrow(/^I17.*too early/);
  expect(() => fail(leased(), 1100, { retryable: false })).toThrow(/^I17.*too often/);
  const second = again(fail(leased(), 1100).after(100));
  expect(() => fail(second, 5000)).toThrow(/^I17.*too often/);
});

test('a wait that is shorter or longer than the policy says is noticed', () => {
  expect(() => fail(leased(), 1099)).toThrow(/^I17.*waits for 99 ms/);
  expect(() => fail(leased(), 1101)).toThrow(/^I17.*waits for 101 ms/);
  expect(() => fail(leased(), 1008, { retryAfterMs: 7 })).toThrow(/^I17/);
});

test('refused and not arrived cost nothing, a lost worker costs an attempt', () => {
  const story = leased()
    .happens({ type: 'report_attempts' }, [returned('refused', false), event('attempt_leased')])
    .happens({ type: 'attach_session' }, [returned('not_arrived', false), event('attempt_leased')])
    .happens({ type: 'expire_sessions' }, [returned('worker_lost', true, 1100)])
    .after(100)
    .happens({ type: 'advance_time' }, [event('task_due')])
    .happens({ type: 'submit_tasks' }, [event('attempt_leased')]);
  const last = event('attempts_exhausted', { reason: reason('worker_lost') });

  expect(() => story.happens({ type: 'expire_sessions' }, [last])).not.toThrow();
});

test('a lost worker after which the task runs at once is noticed', () => {
  const lost = (retryAt: number) => () =>
    leased().happens({ type: 'expire_sessions' }, [returned('worker_lost', true, retryAt)]);
  expect(lost(0)).toThrow(/^I17.*waits for 0 ms, and not for 100 to 100/);
  expect(lost(1101)).toThrow(/^I17/);
  expect(lost(1100)).not.toThrow();
});

test('a refused push that costs an attempt, and a lost worker that does not, are noticed', () => {
  const refused = () => leased().happens({ type: 'report_attempts' }, [returned('refused', true)]);
  expect(refused).toThrow(/^I17.*spends/);
  const lost = () =>
    leased().happens({ type: 'expire_sessions' }, [returned('worker_lost', false)]);
  expect(lost).toThrow(/^I17.*keeps/);
});

test('a task that is lost with its first worker is noticed', () => {
  const last = event('attempts_exhausted', { reason: reason('worker_lost') });
  expect(() => leased().happens({ type: 'expire_sessions' }, [last])).toThrow(/^I17/);
});

test('a lease that comes back by something that cannot bring it is noticed', () => {
  const lost = () => leased().happens({ type: 'submit_tasks' }, [returned('worker_lost', true)]);
  expect(lost).toThrow(/^I17.*by submit_tasks/);
});

test('one attempt too many is noticed where it is leased', () => {
  const twice = again(fail(leased(), 1100).after(100));
  const lost = returned('worker_lost', true);
  expect(() => twice.happens({ type: 'expire_sessions' }, [lost])).toThrow(/^I17.*too often/);
});
