import { expect, test } from 'vitest';
import { event, payload, TestStory } from '../testing/test-story.ts';
import { Submits } from './submits.ts';

const WINDOW_MS = 1000;

function claim(key: number, body: number) {
  return { words: Uint32Array.of(key, 0, 0, 0, body, 0, 0, 0), start: 0, windowMs: WINDOW_MS };
}

/** A request with two tasks. */
function submit(key: number, body = 0) {
  return {
    type: 'submit_tasks',
    tasks: [{ type: 'a' }, { type: 'a' }],
    inputs: new TextEncoder().encode('01'),
    inputEnds: [1, 2],
    request: claim(key, body),
  } as const;
}

function stored(first: number) {
  return [0, 1].map((place) => {
    const dedupe = { words: new Uint32Array(8), start: 0, windowMs: 0 };
    const input = payload(String(place));
    return event('task_submitted', { task: first + place, dedupe, priority: 4, input });
  });
}

function remembered(task: number, key: number, body = 0) {
  return event('request_remembered', { task, dedupe: claim(key, body) });
}

const known = (...numbers: readonly number[]) => ({
  slots: [],
  known: new Map(numbers.map((number, place) => [place, { number }])),
});

/** Request 5 made tasks 1 and 2. */
const told = () =>
  new TestStory((of) => new Submits(of)).happens(
    submit(5),
    [...stored(1), remembered(1, 5)],
    known(),
  );

test('a request is remembered for its window', () => {
  const story = told();
  story.after(999).happens(submit(5), [], known(1, 2));
  const forgotten = event('dedupe_forgotten', { task: 1 });

  expect(() =>
    story.after(1).happens(submit(5, 1), [forgotten, ...stored(3), remembered(3, 5, 1)], known()),
  ).not.toThrow();
});

test('other tasks than those of the request are noticed', () => {
  expect(() => told().happens(submit(5), [], known(1, 1))).toThrow(/^I7.*gives 1,1/);
  expect(() => told().happens(submit(5), [], known(2, 3))).toThrow(/^I7/);
  expect(() => told().happens(submit(5), [], known())).toThrow(/^I7/);
});

test('a request that is stored again, or not remembered, is noticed', () => {
  const again = [...stored(3), remembered(3, 5)];
  expect(() => told().happens(submit(5), again, known())).toThrow(/^I7/);
  expect(() => told().happens(submit(6), stored(3), known())).toThrow(/^I7.*not remembered/);
});

test('a request that is remembered otherwise than it was sent is noticed', () => {
  const otherKey = [...stored(3), remembered(3, 7)];
  expect(() => told().happens(submit(6), otherKey, known())).toThrow(/^I7.*nobody sent/);
  const otherTask = [...stored(3), remembered(4, 6)];
  expect(() => told().happens(submit(6), otherTask, known())).toThrow(/^I7.*nobody sent/);
});

test('another body is refused, and nothing else is', () => {
  const refused = { rejection: 'request_mismatch', slots: [] };
  expect(() => told().happens(submit(5, 1), [], refused)).not.toThrow();
  expect(() => told().happens(submit(5), [], refused)).toThrow(/^I7/);
  expect(() => told().happens(submit(6), [], refused)).toThrow(/^I7.*new key/);
  expect(() => told().happens(submit(5, 1), [], known(1, 2))).toThrow(/^I7.*taken for it/);
});

test('a request that is forgotten early is noticed', () => {
  const forgotten = event('dedupe_forgotten', { task: 1 });
  const early = () => told().after(999).happens({ type: 'advance_time' }, [forgotten]);
  expect(early).toThrow(/^I7.*forgotten/);
});
