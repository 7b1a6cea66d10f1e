import { FAILED } from '@sluice/core';
import { beforeEach, expect, test } from 'vitest';
import type { TaskRecord } from '../records/task-record.ts';
import { type CountScope, DeadLetterCount } from './dead-letter-count.ts';
import { record } from './record-fixture.ts';

const MAIL: CountScope = { namespace: 'default', queue: 'mail' };

let now: number;
let pauses: number;
/** Runs while a count pauses. */
let between: () => void;
let begun: CountScope[];
let dead: TaskRecord[];
let counting: DeadLetterCount;

beforeEach(() => {
  now = 0;
  pauses = 0;
  between = () => undefined;
  begun = [];
  dead = Array.from({ length: 100 }, (_, index) => record(index + 1, 1, FAILED));
  counting = new DeadLetterCount({
    deadLetters: function* (scope) {
      begun.push(scope);
      for (const each of dead) {
        // Each record takes a millisecond.
        now += 1;
        yield each;
      }
    },
    clock: () => now,
    pause: async () => {
      pauses += 1;
      between();
    },
  });
});

test('many are counted in slices', async () => {
  const groups = await counting.groups(MAIL);

  expect(groups).toMatchObject({ items: [{ count: 100 }], others: 0, isComplete: true });
  expect(pauses).toBe(5);
});

test('time that others take between slices does not count', async () => {
  between = () => {
    now += 3000;
  };

  expect((await counting.groups(MAIL)).isComplete).toBe(true);
});

test('a count that takes too long ends, and says that it is not complete', async () => {
  dead = Array.from({ length: 6000 }, (_, index) => record(index + 1, 1, FAILED));

  expect(await counting.groups(MAIL)).toMatchObject({
    items: [{ count: 5000 }],
    isComplete: false,
  });
});

test('equal questions that wait share one count, and none shares one that has begun', async () => {
  const first = counting.groups(MAIL);
  await Promise.resolve();
  const others = [MAIL, { ...MAIL }, { ...MAIL, queue: 'sms' }].map((s) => counting.groups(s));
  await Promise.all([first, ...others]);

  expect(begun).toEqual([MAIL, MAIL, { ...MAIL, queue: 'sms' }]);
});

test('a count that fails is no reason to refuse the next one', async () => {
  const { groups } = counting;
  dead = [{ ...record(1, 1, FAILED), endedAt: Number.NaN }];
  await expect(groups.call(counting, MAIL)).rejects.toThrow();

  dead = [record(1, 1, FAILED)];
  expect((await counting.groups(MAIL)).items).toHaveLength(1);
});
