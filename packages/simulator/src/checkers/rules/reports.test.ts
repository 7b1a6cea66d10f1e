import type { Event } from '@sluice/core';
import { expect, test } from 'vitest';
import { event, reason, SUBMIT, state, TestStory } from '../testing/test-story.ts';
import { ReportsTaken } from './reports.ts';

function leased(): TestStory {
  const story = new TestStory((of) => new ReportsTaken(of));
  return story.happens(SUBMIT, [event('task_submitted'), event('attempt_leased')]);
}

type Said = readonly [kind: string, outcome: string];

/** Reports on the lease of task 1. */
function report(story: TestStory, said: readonly Said[], ...events: readonly Event[]): TestStory {
  const lease = story.lease();
  const reports = said.map(([kind]) => ({ lease, kind }));
  const reply = { found: true, outcomes: said.map(([, outcome]) => outcome) };
  return story.happens({ type: 'report_attempts', session: 's_1', reports }, events, reply);
}

const STARTED = event('attempt_started');
const SUCCEEDED = event('attempt_succeeded');

test('each report has its effect once, and hears so', () => {
  const story = report(leased(), [['started', 'ok']], STARTED);
  report(story, [
    ['heartbeat', 'ok'],
    ['started', 'duplicate'],
  ]);
  const last: Said[] = [
    ['succeeded', 'ok'],
    ['succeeded', 'duplicate'],
    ['started', 'duplicate'],
    ['failed', 'stale_lease'],
    ['heartbeat', 'stale_lease'],
  ];
  report(story, last, SUCCEEDED, event('attempt_leased', { task: 2, lease: 2 }));

  expect(() => report(story, [['succeeded', 'duplicate']])).not.toThrow();
});

test('a task that is being cancelled ends by the word of its worker', () => {
  const stopping = event('attempt_stopping', { reason: reason('cancelled') });
  const story = leased().happens({ type: 'cancel_tasks' }, [stopping]);
  const ended = event('task_ended', { state: state('cancelled'), answer: 1 });
  report(story, [['succeeded', 'ok']], ended);

  expect(() => report(story, [['succeeded', 'duplicate']])).not.toThrow();
});

test('an effect of a report with another lease is noticed', () => {
  const story = leased();
  const reports = [{ lease: 'l_other', kind: 'succeeded' }];
  const command = { type: 'report_attempts', session: 's_1', reports } as const;
  const reply = { outcomes: ['stale_lease'] };
  expect(() => story.happens(command, [SUCCEEDED], reply)).toThrow(/^I5/);
});

test('a report of another session that is taken is noticed', () => {
  const story = leased();
  const reports = [{ lease: story.lease(), kind: 'succeeded' }];
  const command = { type: 'report_attempts', session: 's_2', reports } as const;
  expect(() => story.happens(command, [SUCCEEDED], { outcomes: ['ok'] })).toThrow(/^I5/);
});

test('a report with a lease that moved on is stale', () => {
  const old = leased().lease();
  const moved = [event('attempt_returned'), event('attempt_leased', { lease: 2 })];
  const story = leased().happens({ type: 'expire_sessions' }, moved);
  const command = {
    type: 'report_attempts',
    session: 's_1',
    reports: [{ lease: old, kind: 'succeeded' }],
  } as const;
  story.happens(command, [], { outcomes: ['stale_lease'] });
  expect(() => story.happens(command, [SUCCEEDED], { outcomes: ['ok'] })).toThrow(/^I5/);
});

test('a report that is taken twice, or the second time refused as stale, is noticed', () => {
  const done = () => report(leased(), [['succeeded', 'ok']], SUCCEEDED);
  expect(() => report(done(), [['succeeded', 'ok']], SUCCEEDED)).toThrow(/^I6/);
  expect(() => report(done(), [['succeeded', 'stale_lease']])).toThrow(/^I6/);
});

test('a report that is taken and leads to nothing is noticed', () => {
  expect(() => report(leased(), [['succeeded', 'ok']])).toThrow(/^I6/);
});

test('a success that nobody reported is noticed', () => {
  expect(() => report(leased(), [['failed', 'ok']], SUCCEEDED)).toThrow(/^I5/);
});
