import { expect, test } from 'vitest';
import { event, SUBMIT, TestStory } from '../testing/test-story.ts';
import { Leases } from './leases.ts';

/** Submits a task that immediately gets this lease. */
function lease(told: TestStory, number: number): TestStory {
  const task = told.story.tasks.size + 1;
  const leased = event('attempt_leased', { task, lease: number });
  return told.happens(SUBMIT, [event('task_submitted', { task }), leased]);
}

const begun = () => new TestStory((of) => new Leases(of));

test('leases that grow pass, also with gaps and after a restart', () => {
  expect(() => lease(lease(lease(begun(), 1), 7).restarts(), 8)).not.toThrow();
});

test('a lease that another task had is noticed', () => {
  expect(() => lease(lease(begun(), 1), 1)).toThrow(/^I4.*lease 1 after 1/);
});

test('a lease that is smaller than the last one is noticed, also after a restart', () => {
  expect(() => lease(lease(begun(), 5), 4)).toThrow(/^I4.*lease 4 after 5/);
  expect(() => lease(lease(begun(), 5).restarts(), 4)).toThrow(/^I4/);
});
