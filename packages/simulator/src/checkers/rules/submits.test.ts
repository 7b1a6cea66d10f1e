import { expect, test } from 'vitest';
import { event, payload, TestStory } from '../testing/test-story.ts';
import { Submits } from './submits.ts';

interface Sent {
  readonly key?: number;
  readonly body?: number;
  readonly windowMs?: number;
  readonly priority?: number;
}

/** A submit of tasks. The input of each task is its position. */
function submit(...sent: readonly Sent[]) {
  const words = new Uint32Array(sent.length * 8);
  sent.forEach(({ key = 0, body = 0 }, place) => {
    words[place * 8] = key;
    words[place * 8 + 4] = body;
  });
  const windowsMs = sent.map(({ key, windowMs = 1000 }) => (key === undefined ? 0 : windowMs));
  return {
    type: 'submit_tasks',
    tasks: sent.map(({ priority }) => ({
      type: 'a',
      ...(priority === undefined ? {} : { priority }),
    })),
    inputs: new TextEncoder().encode(sent.map((_, place) => place).join('')),
    inputEnds: sent.map((_, place) => place + 1),
    dedupe: { words, windowsMs },
  } as const;
}

function stored(task: number, { key, body = 0, windowMs = 1000, priority = 4 }: Sent, place = 0) {
  const words = Uint32Array.of(key ?? 0, 0, 0, 0, body, 0, 0, 0);
  const dedupe = { words, start: 0, windowMs: key === undefined ? 0 : windowMs };
  return event('task_submitted', { task, dedupe, priority, input: payload(String(place)) });
}

const told = () => new TestStory((of) => new Submits(of));
const known = (...entries: readonly (readonly [number, number])[]) => ({
  slots: [],
  known: new Map(entries.map(([place, number]) => [place, { number }])),
});

test('tasks are stored as they were sent, and those with a known key are not', () => {
  const both = submit({}, { key: 5, priority: 7 });
  const story = told().happens(both, [stored(1, {}), stored(2, { key: 5, priority: 7 }, 1)], {});
  story.after(999).happens(submit({ key: 5 }), [], known([0, 2]));
  const forgotten = event('dedupe_forgotten', { task: 2 });

  expect(() =>
    story
      .after(1)
      .happens(submit({ key: 5, body: 3 }), [forgotten, stored(3, { key: 5, body: 3 })], {}),
  ).not.toThrow();
});

test('a key twice in one submit is one task', () => {
  const story = told();

  expect(() =>
    story.happens(submit({ key: 5 }, { key: 5 }), [stored(1, { key: 5 })], known([1, 1])),
  ).not.toThrow();
});

test('the same key with another input is refused', () => {
  const refused = { rejection: 'dedupe_mismatch', mismatchAt: 0 };
  const story = told().happens(submit({ key: 5 }), [stored(1, { key: 5 })], {});
  story.happens(submit({ key: 5, body: 1 }), [], refused);
  expect(() => story.happens(submit({ key: 6, body: 1 }), [], refused)).toThrow(/^I7/);
  expect(() => story.happens(submit({ key: 5 }), [], refused)).toThrow(/^I7/);
  const earlier = submit({ key: 8 }, { key: 8, body: 1 });
  story.happens(earlier, [], { ...refused, mismatchAt: 1 });
});

test('a second task for a key that is remembered is noticed', () => {
  const story = told().happens(submit({ key: 5 }), [stored(1, { key: 5 })], {});
  expect(() => story.happens(submit({ key: 5 }), [stored(2, { key: 5 })], {})).toThrow(/^I7/);
});

test('another input that is taken for the same is noticed', () => {
  const story = told().happens(submit({ key: 5 }), [stored(1, { key: 5 })], {});
  expect(() => story.happens(submit({ key: 5, body: 1 }), [], known([0, 1]))).toThrow(/^I7/);
});

test('a key that is forgotten early, or remembered too long, is noticed', () => {
  const story = () => told().happens(submit({ key: 5 }), [stored(1, { key: 5 })], {});
  const forgotten = event('dedupe_forgotten', { task: 1 });
  const early = () => story().after(999).happens({ type: 'advance_time' }, [forgotten]);
  expect(early).toThrow(/^I7/);
  const late = () =>
    story()
      .after(1000)
      .happens(submit({ key: 5 }), [], known([0, 1]));
  expect(late).toThrow(/^I7/);
});

test('after a retry with another input, a key that stands for the old one is noticed', () => {
  const words = Uint32Array.of(7, 0, 0, 0);
  const dedupe = { words: Uint32Array.of(5, 0, 0, 0, ...words), start: 0, windowMs: 1000 };
  const retried = () => {
    const story = told().happens(submit({ key: 5 }), [stored(1, { key: 5 })], {});
    const ids = [story.id()];
    return (...events: readonly ReturnType<typeof event>[]) =>
      story.happens({ type: 'retry_tasks', ids, input: { words } }, events, { outcomes: [{}] });
  };
  const changed = event('dedupe_input_changed', { dedupe });
  const other = event('dedupe_input_changed', { dedupe: { ...dedupe, words: new Uint32Array(8) } });

  expect(() => retried()(changed)).not.toThrow();
  expect(() => retried()()).toThrow(/^I7.*before its replacement/);
  expect(() => retried()(other)).toThrow(/^I7.*nobody sent/);
});

test('a task that is stored otherwise than it was sent is noticed', () => {
  expect(() => told().happens(submit({}), [stored(1, {}, 7)], {})).toThrow(/^I2.*input/);
  const priority = () => told().happens(submit({ priority: 2 }), [stored(1, {})], {});
  expect(priority).toThrow(/^I2.*priority/);
});

test('a task that is not stored, or stored twice, is noticed', () => {
  expect(() => told().happens(submit({}, {}), [stored(1, {})], {})).toThrow(/^I1/);
  expect(() => told().happens(submit({}), [stored(1, {}), stored(2, {})], {})).toThrow(/^I2/);
});
