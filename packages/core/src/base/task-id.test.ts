import fc from 'fast-check';
import { expect, test } from 'vitest';
import { testUtf8 } from '../testing/test-utf8.ts';
import { toBase32 } from './base32.ts';
import type { TaskNumber } from './ids.ts';
import { parseTaskId, TASK_ID_LENGTH, type TaskKey, taskIdText, writeTaskId } from './task-id.ts';

const keys: fc.Arbitrary<TaskKey> = fc.record({
  submittedAt: fc.integer({ min: 0, max: 2 ** 48 - 1 }),
  partition: fc.nat(4095),
  number: fc.integer({ min: 0, max: 2 ** 36 - 1 }).map((number) => number as TaskNumber),
});

test('every key comes back from its id', () => {
  fc.assert(
    fc.property(keys, (key) => {
      expect(parseTaskId(taskIdText(key))).toEqual(key);
    }),
  );
});

test('the id as bytes is the id as text', () => {
  fc.assert(
    fc.property(keys, (key) => {
      const bytes = new Uint8Array(TASK_ID_LENGTH + 2);

      writeTaskId(bytes, 1, key);

      expect(testUtf8.decode(bytes)).toBe(`\0${taskIdText(key)}\0`);
    }),
  );
});

test('ids sort by time, then by partition, then by number', () => {
  const rank = (key: TaskKey) => [key.submittedAt, key.partition, key.number];
  const near = fc.record({
    submittedAt: fc.nat(2),
    partition: fc.nat(2),
    number: fc.nat(2).map((number) => number as TaskNumber),
  });
  fc.assert(
    fc.property(fc.array(fc.oneof(keys, near), { maxLength: 20 }), (list) => {
      const byKey = list.toSorted((a, b) => compareRanks(rank(a), rank(b))).map(taskIdText);

      expect(list.map(taskIdText).toSorted()).toEqual(byKey);
    }),
  );
});

test('an id is never all digits', () => {
  expect(taskIdText({ submittedAt: 0, partition: 0, number: 1 as TaskNumber })).toMatch(/^t_/);
});

test('a text that is no id is refused', () => {
  const id = taskIdText({ submittedAt: 5, partition: 1, number: 7 as TaskNumber });

  const foreign = ['', 't_', id.slice(1), `${id}0`, id.slice(0, -1), `l${id.slice(1)}`];
  const spoiled = [id.toUpperCase(), `${id.slice(0, -1)}w`, `${id.slice(0, -1)} `];

  for (const text of [...foreign, ...spoiled]) expect(parseTaskId(text)).toBeUndefined();
});

test('a time or a partition beyond its bits is refused', () => {
  const zeros = toBase32(0);

  expect(parseTaskId(`t_${toBase32(2 ** 48 - 1)}${zeros}`)).toBeDefined();
  expect(parseTaskId(`t_${toBase32(2 ** 48)}${zeros}`)).toBeUndefined();
  expect(parseTaskId(`t_${zeros}${toBase32(2 ** 48 - 1)}`)).toBeDefined();
  expect(parseTaskId(`t_${zeros}${toBase32(2 ** 48)}`)).toBeUndefined();
});

test('any text is refused or is exactly the id of what it is read as', () => {
  const texts = fc.oneof(
    fc.string(),
    fc.stringMatching(/^t_[0-9a-w]{20}$/),
    fc.stringMatching(/^[tl]_[0-9a-v]{19,21}$/),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const key = parseTaskId(text);

      if (key !== undefined) expect(taskIdText(key)).toBe(text);
    }),
  );
});

function compareRanks(a: readonly number[], b: readonly number[]): number {
  const place = a.findIndex((value, index) => value !== b[index]);
  return place < 0 ? 0 : a[place] - b[place];
}
