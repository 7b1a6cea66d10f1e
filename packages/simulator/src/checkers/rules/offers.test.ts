import { expect, test } from 'vitest';
import { SessionStories } from '../story/session-stories.ts';
import { ATTACH, ATTACHED, event, SUBMIT, TestStory } from '../testing/test-story.ts';
import { Offers } from './offers.ts';

function attached(unsentBytesMax = 1000): TestStory {
  let sessions: SessionStories | undefined;
  const told = new TestStory(
    (of) => {
      sessions = new SessionStories(of, 5000);
      return sessions;
    },
    (of) => new Offers(of, sessions as SessionStories, unsentBytesMax),
  );
  return told.happens(ATTACH, [], ATTACHED);
}

/** Submits a task that is leased immediately. */
function lease(told: TestStory, fields: object = {}): TestStory {
  const task = told.story.tasks.size + 1;
  const leased = event('attempt_leased', { task, lease: task });
  return told.happens(SUBMIT, [event('task_submitted', { task, ...fields }), leased]);
}

const shape = (resources: object, constraints: string[] = []) =>
  JSON.stringify({ resources, constraints });

test('what is within the offer is granted', () => {
  const told = lease(lease(attached(), { shape: shape({ cpu: 2 }) }), { taskType: 'b' });

  expect(() => lease(told, { shape: shape({}, ['zone == eu']) })).not.toThrow();
});

test('more than the offer is noticed, of any kind', () => {
  expect(() => lease(lease(lease(lease(attached(9999)))))).toThrow(/^I26.*slots/);
  const cpu = { shape: shape({ cpu: 1.1 }) };
  expect(() => lease(lease(attached(), cpu), cpu)).toThrow(/^I26.*cpu/);
  expect(() => lease(attached(), { shape: shape({ gpu: 1 }) })).toThrow(/^I26.*gpu/);
});

test('a smaller offer counts from the report on that makes it', () => {
  const less = { type: 'report_attempts', session: 's_1', reports: [], capacity: { slots: 1 } };
  const told = lease(attached()).happens(less as typeof ATTACH);
  expect(() => lease(told)).toThrow(/^I26.*slots/);
});

test('more of a type than the session takes at once is noticed', () => {
  const b = { taskType: 'b' };
  expect(() => lease(lease(attached(), b), b)).toThrow(/^I16/);
  expect(() => lease(attached(), { taskType: 'c' })).toThrow(/^I16/);
});

test('a worker that does not have the label is noticed', () => {
  expect(() => lease(attached(), { shape: shape({}, ['zone == us']) })).toThrow(/^I26.*zone == us/);
});

test('a grant to a session that is not there is noticed', () => {
  const drain = { type: 'drain_session', session: 's_1' } as const;
  expect(() => lease(attached().happens(drain, [], { found: true }))).toThrow(/^I26/);
  const gone = { type: 'disconnect_session', session: 's_1', connection: 1 } as const;
  expect(() => lease(attached().happens(gone))).toThrow(/^I26/);
  const left = { type: 'detach_session', session: 's_1' } as const;
  expect(() => lease(attached().happens(left, [], { found: true }))).toThrow(/^I26/);
  expect(() => lease(attached().restarts())).toThrow(/^I26.*nobody knows/);
  const lost = lease(attached()).happens({ type: 'expire_sessions' }, [event('attempt_returned')]);
  expect(() => lease(lost)).toThrow(/^I26/);
});

test('the end of an older connection does not matter', () => {
  const again = attached().happens(ATTACH, [], { ...ATTACHED, connection: 2, resumed: true });
  const gone = { type: 'disconnect_session', session: 's_1', connection: 1 } as const;

  expect(() => lease(again.happens(gone))).not.toThrow();
});

test('a task of a paused queue is noticed', () => {
  const pause = { type: 'set_queue_paused' } as const;
  const paused = attached().happens(pause, [event('queue_changed', { taskType: 'a' })]);
  expect(() => lease(paused)).toThrow(/^I26.*paused/);
});

test('a task of another namespace is noticed', () => {
  expect(() => lease(attached(), { taskType: 'foreign/a' })).toThrow(/^I39/);
});

test('a worker that is too far behind in reading is noticed', () => {
  expect(() => lease(lease(attached(256)))).toThrow(/^I40/);
  const read = { type: 'session_read', session: 's_1', connection: 1, bytes: 256 } as const;
  lease(lease(attached(256)).happens(read));
});
