import type { PushedTask } from '@sluice/protocol';
import { expect, test } from 'vitest';
import { event, reason, SUBMIT, TestStory } from '../testing/test-story.ts';
import { HandlerRuns } from './handler-runs.ts';

const REPORT = { type: 'report_attempts', session: 's_1', reports: [] } as const;

function begun() {
  let runs: HandlerRuns | undefined;
  const story = new TestStory(({ simulation }) => {
    runs = new HandlerRuns(simulation);
    return runs;
  });
  story.happens(SUBMIT, [event('task_submitted'), event('attempt_leased', { lease: 1 })]);
  const start = (worker: string) => {
    runs?.started({ id: story.id(), lease: story.lease() } as PushedTask, worker);
  };
  return { story, start, letGo: () => runs?.letGo(story.lease()) };
}

function returned(spent: boolean, lease: number) {
  const given = { reason: reason(spent ? 'worker_lost' : 'not_arrived'), spent };
  return [event('attempt_returned', given), event('attempt_leased', { lease })];
}

test('a handler that starts once for each attempt passes', () => {
  const { story, start } = begun();
  start('first');
  story.happens(REPORT, returned(true, 2), { outcomes: [] });

  expect(() => start('second')).not.toThrow();
});

test('a second start of the same attempt is noticed, on whichever worker', () => {
  for (const worker of ['first', 'second']) {
    const { start } = begun();
    start('first');
    expect(() => start(worker)).toThrow(/^I27/);
  }
});

test('an attempt that is said never to have arrived, and had started, is noticed', () => {
  const { story, start } = begun();
  start('first');
  story.happens(REPORT, returned(false, 2), { outcomes: [] });
  expect(() => start('second')).toThrow(/^I27/);
});

test('an attempt that a worker let go of when it stopped starts again', () => {
  const { story, start, letGo } = begun();
  start('first');
  letGo();
  story.happens(REPORT, returned(false, 2), { outcomes: [] });
  expect(() => start('second')).not.toThrow();
});

test('an attempt that was handed back starts again on another worker', () => {
  const { story, start } = begun();
  start('first');
  const given = { reason: reason('handed_back'), spent: false };
  const events = [event('attempt_returned', given), event('attempt_leased', { lease: 2 })];
  story.happens({ type: 'detach_session' }, events);

  expect(() => start('second')).not.toThrow();
});

test('a task that was retried by hand runs its first attempt once more', () => {
  const { story, start } = begun();
  start('first');
  const events = [event('task_retried'), event('attempt_leased', { lease: 2 })];
  story.happens({ type: 'retry_tasks', ids: [story.id()] }, events, { outcomes: [] });

  expect(() => start('first')).not.toThrow();
});

test('a start under a lease that the log does not know is noticed', () => {
  let runs: HandlerRuns | undefined;
  const story = new TestStory(({ simulation }) => {
    runs = new HandlerRuns(simulation);
    return runs;
  });
  const pushed = { id: story.id(), lease: 'l_none' } as PushedTask;
  expect(() => runs?.started(pushed, 'first')).toThrow(/^I29/);
});
