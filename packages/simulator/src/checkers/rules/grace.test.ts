import { expect, test } from 'vitest';
import { SessionStories } from '../story/session-stories.ts';
import { ATTACH, ATTACHED, event, reason, SUBMIT, TestStory } from '../testing/test-story.ts';
import { Grace } from './grace.ts';

function leased(): TestStory {
  let sessions: SessionStories | undefined;
  const told = new TestStory(
    (of) => {
      sessions = new SessionStories(of, 10_000);
      return sessions;
    },
    (of) => new Grace(of, sessions as SessionStories),
  );
  told.happens(ATTACH, [], ATTACHED);
  return told.happens(SUBMIT, [event('task_submitted'), event('attempt_leased')]);
}

function expire(told: TestStory): TestStory {
  const lost = event('attempt_returned', { reason: reason('worker_lost') });
  return told.happens({ type: 'expire_sessions' }, [lost]);
}

function resume(told: TestStory, running: string[], lost: string[], ...events: never[]): TestStory {
  const command = { ...ATTACH, resume: { session: 's_1', running } };
  return told.happens(command, events, { ...ATTACHED, resumed: true, lost });
}

test('a session is lost after its silence, not before', () => {
  expire(leased().after(5000));
  expect(() => expire(leased().after(4999))).toThrow(/^I27/);
  const report = { type: 'report_attempts', session: 's_1', reports: [] } as const;
  const heard = () => leased().after(1000).happens(report, [], { outcomes: [] });
  expire(heard().after(5000));
  expect(() => expire(heard().after(4999))).toThrow(/^I27/);
});

test('after a restart nobody is lost before the grace period is over', () => {
  expire(leased().restarts().after(10_000));
  expect(() => expire(leased().restarts().after(9999))).toThrow(/^I27/);
});

test('a server that did not listen waits once more', () => {
  const slept = () => leased().after(60_000).happens({ type: 'renew_sessions' });
  expire(slept().after(5000));
  expect(() => expire(slept().after(4999))).toThrow(/^I27/);
});

test('a worker that comes back keeps what it lists', () => {
  const told = leased().restarts();

  expect(() => resume(told, [told.lease(), 'l_other'], ['l_other'])).not.toThrow();
});

test('what it lists and keeps, and what it lost, has to be what it is told', () => {
  const told = leased();
  expect(() => resume(told, [told.lease()], [told.lease()])).toThrow(/^I27/);
  expect(() => resume(leased(), ['l_other'], [])).toThrow(/^I27/);
});

test('what never arrived comes back, and only that', () => {
  const lost = event('attempt_returned', { reason: reason('not_arrived'), spent: false });
  resume(leased(), [], [], lost as never);
  const told = leased();
  expect(() => resume(told, [told.lease()], [], lost as never)).toThrow(/^I27.*lists it/);
  expect(() => resume(leased().after(1), [], [])).toThrow(/^I27.*does not list it/);
});
