import { beforeEach, expect, test } from 'vitest';
import { StoredRecords } from './stored-records.ts';
import type { StoredRecord } from './stored-row.ts';

/** Number of rows requested by each read. */
let asked: number[];
/** Position of every row, as if it had just been written. */
let position: number;
let records: StoredRecords;

beforeEach(() => {
  asked = [];
  position = 1;
  records = new StoredRecords({
    readAhead: (number, count) => {
      asked.push(count);
      const numbers = Array.from({ length: count }, (_, index) => number + index);
      return new Map(numbers.map((each) => [each, storedRecord(each)]));
    },
  });
});

function storedRecord(number: number): StoredRecord {
  return { record: { number } as StoredRecord['record'], position };
}

test('reads further ahead as long as numbers follow each other', () => {
  for (let number = 10; number < 17; number++) {
    expect(records.take(number)).toEqual(storedRecord(number));
  }

  expect(asked).toEqual([1, 2, 4]);
});

test('reads one by one when numbers come anyhow', () => {
  for (const number of [50, 7, 31, 2]) expect(records.take(number)).toEqual(storedRecord(number));

  expect(asked).toEqual([1, 1, 1, 1]);
});

test('reads again what was written meanwhile', () => {
  for (const number of [1, 2]) records.take(number);
  position = 2;
  records.forget();

  expect(records.take(3)?.position).toBe(2);
});

test('reads again what was handed out', () => {
  for (const number of [1, 2]) records.take(number);
  position = 2;

  expect(records.take(2)?.position).toBe(2);
});
