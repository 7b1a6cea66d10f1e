import { expect, test } from 'vitest';
import { SessionStories } from '../story/session-stories.ts';
import { ATTACH, ATTACHED, event, reason, SUBMIT, TestStory } from '../testing/test-story.ts';
import { Starvation } from './starvation.ts';

const AGEING = { ageAfterMs: 1000, agedLeaseEvery: 2 };

/** A worker, and task 1, which waits longer than it should. */
function begun(fields: object = {}): TestStory {
  let sessions: SessionStories | undefined;
  const told = new TestStory(
    (of) => {
      sessions = new SessionStories(of, 5000);
      return sessions;
    },
    (of) => new Starvation(of, sessions as SessionStories, AGEING),
  );
  told.happens(ATTACH, [], ATTACHED);
  return told.happens(SUBMIT, [event('task_submitted', { priority: 0, ...fields })]).after(1000);
}

/** This many tasks are submitted, leased and finished, one after the other. */
function others(told: TestStory, count: number): TestStory {
  for (let i = 0; i < count; i++) {
    const task = told.story.tasks.size + 1;
    const leased = event('attempt_leased', { task, lease: task });
    told.happens(SUBMIT, [event('task_submitted', { task }), leased]).after(1);
    told.happens({ type: 'report_attempts' }, [event('attempt_succeeded', { task })]).after(1);
  }
  return told;
}

test('a task that waits gets its turn', () => {
  const story = others(begun(), 3).happens(SUBMIT, [event('attempt_leased', { lease: 99 })]);

  expect(() => others(story, 20)).not.toThrow();
});

test('a task that is passed over again and again is noticed', () => {
  expect(() => others(begun(), 4)).toThrow(/^I14: s_1 passes over task 1/);
});

test('a task that does not fit is not passed over', () => {
  others(begun({ shape: '{"resources":{"slots":9}}' }), 20);
  others(begun({ shape: '{"resources":{},"constraints":["zone == us"]}' }), 20);

  expect(() => others(begun({ taskType: 'c' }), 20)).not.toThrow();
});

test('a task that the session refused, and room that is kept, do not count', () => {
  const refused = event('attempt_returned', { reason: reason('refused'), spent: false });
  const lease = event('attempt_leased', { lease: 50 });
  others(begun().happens({ type: 'report_attempts' }, [lease, refused]).after(1000), 20);
  const keeping = begun();
  keeping.keeping.add('s_1');

  expect(() => others(keeping, 20)).not.toThrow();
});

test('one that came back to the head hides those behind it', () => {
  const story = begun();
  const second = event('task_submitted', { task: 2, priority: 0 });
  story.happens(SUBMIT, [second, event('attempt_leased', { task: 2, lease: 50 })]);
  const back = event('attempt_returned', { task: 2, reason: reason('worker_lost') });

  expect(() => others(story.happens({ type: 'expire_sessions' }, [back]), 20)).not.toThrow();
});

test('a rest, and a queue that is resumed, excuse nothing', () => {
  const rested = others(begun(), 3);
  rested.grantsLeases = false;
  rested.happens({ type: 'expire_sessions' });
  rested.grantsLeases = true;
  expect(() => others(rested, 1)).toThrow(/^I14: s_1 passes over task 1/);
  const resumed = others(begun(), 3);
  resumed.happens(SUBMIT, [event('task_submitted', { task: 5 })]).after(1);
  const leased = event('attempt_leased', { task: 5, lease: 5 });
  expect(() => resumed.happens({ type: 'set_queue_paused' }, [leased])).toThrow(/^I14/);
});

test('a session that was lost and comes back begins anew, one that resumes does not', () => {
  const story = others(begun(), 3).happens(ATTACH, [], ATTACHED);
  others(story, 3).happens(ATTACH, [], { ...ATTACHED, resumed: true });
  expect(() => others(story, 1)).toThrow(/^I14: s_1 passes over task 1/);
});
