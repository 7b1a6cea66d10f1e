import { describe, expect, test } from 'vitest';
import { Pushes } from './pushes.ts';
import { SessionStories } from './story/session-stories.ts';
import {
  ATTACH,
  ATTACHED,
  event,
  payload,
  SUBMIT,
  state,
  TestStory,
} from './testing/test-story.ts';

/** A task that s_1 holds, and a function that writes to the stream of s_1. */
function begun(): { story: TestStory; say: (...events: readonly object[]) => void } {
  const sessions = { current: undefined as SessionStories | undefined };
  let pushes: Pushes | undefined;
  const story = new TestStory(
    (of) => (sessions.current = new SessionStories(of, 5000)),
    (of) => (pushes = new Pushes(of, sessions.current as SessionStories)),
  );
  story.happens(ATTACH, [], ATTACHED);
  const submitted = event('task_submitted', { input: payload('{"n":1}') });
  story.happens(SUBMIT, [submitted, event('attempt_leased')]);
  const stream = {};
  const say = (...events: readonly object[]) => {
    const welcome = { name: 'welcome', data: { sessionId: 's_1' } };
    const texts = [welcome, ...events].map((each) => {
      const { name, data } = each as { name: string; data: unknown };
      return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
    });
    pushes?.written(stream, new TextEncoder().encode(texts.join('')));
  };
  return { story, say };
}

function push(story: TestStory, changes: object = {}) {
  const lease = story.lease();
  const task = { id: story.id(), lease, attempt: 1, type: 'a', input: { n: 1 }, ...changes };
  return { name: 'tasks', data: [task] };
}

test('a push of what the log says, and a cancel of it, pass', () => {
  const { story, say } = begun();
  const cancel = { name: 'cancel', data: { id: story.id(), lease: story.lease() } };

  expect(() => say(push(story), cancel, { name: 'ping', data: {} })).not.toThrow();
});

test('a lease that is not in the log is noticed', () => {
  const { story, say } = begun();
  expect(() => say(push(story, { lease: 'l_other' }))).toThrow(/^I29/);
});

test('a push to another session, or with another task, is noticed', () => {
  const { story, say } = begun();
  expect(() => say(push(story, { id: 't_other' }))).toThrow(/^I4/);
  const { say: sayElse } = begun();
  const welcome = { name: 'welcome', data: { sessionId: 's_2' } };
  expect(() => sayElse(welcome, push(story))).toThrow(/^I4/);
});

test('another attempt, type or input is noticed', () => {
  const wrong = (changes: object) => () => {
    const { story, say } = begun();
    say(push(story, changes));
  };
  expect(wrong({ attempt: 2 })).toThrow(/^I4/);
  expect(wrong({ type: 'b' })).toThrow(/^I4/);
  expect(wrong({ input: { n: 2 } })).toThrow(/^I3/);
  expect(wrong({ input: null })).toThrow(/^I3/);
});

describe('an attempt that has to stop', () => {
  const TICK = { type: 'expire_sessions' } as const;
  const CANCEL = { type: 'cancel_tasks', ids: [], graceMs: 500 } as const;

  function stopping() {
    const { story, say } = begun();
    say(push(story));
    story.happens(CANCEL, [event('attempt_stopping')]);
    const cancel = { name: 'cancel', data: { id: story.id(), lease: story.lease() } };
    return { story, tell: () => say(cancel) };
  }

  test('its worker hears of it in time', () => {
    const { story, tell } = stopping();
    story.after(1500).happens(TICK);
    tell();
    story.after(60_000).happens(TICK);
  });

  test('a worker with a stream that does not hear of it is noticed', () => {
    const { story } = stopping();
    expect(() => story.after(2500).happens(TICK)).toThrow(/^I25/);
  });

  test('a worker without a stream hears of it when it has one again', () => {
    const { story } = stopping();
    story.happens({ type: 'disconnect_session', session: 's_1', connection: 1 });
    story.after(10_000).happens(ATTACH, [], { ...ATTACHED, connection: 2, resumed: true });
    story.after(1500).happens(TICK);
    expect(() => story.after(1000).happens(TICK)).toThrow(/^I25/);
  });

  test('what was carried out before does not count, however late it is told', () => {
    const { story } = stopping();
    story.after(5000).lateMs = 4000;
    story.happens(TICK);
    story.happens({ type: 'disconnect_session', session: 's_1', connection: 1 });
    story.after(10_000).lateMs = 0;
    story.happens(TICK);
  });

  test('one that ended meanwhile need not hear of it, nor while the server stands still', () => {
    const { story } = stopping();
    story.happens(TICK, [event('task_ended', { state: state('cancelled') })]);
    story.after(10_000).happens(TICK);
  });
});
