import { afterEach, beforeEach, expect, test } from 'vitest';
import { TempStore } from '../testing/store-fixture.ts';
import { LineRows, type LineRowsOptions } from './line-rows.ts';

const DAY = '2026-11-18';

let store: TempStore;
let rows: LineRows;

beforeEach(async () => {
  store = await TempStore.create();
  rows = open();
});

afterEach(async () => {
  await rows.close();
  await store.dispose();
});

function open(options: Partial<LineRowsOptions> = {}): LineRows {
  return new LineRows({ address: store.address, ...options });
}

const entry = (seq: number, lines: readonly string[], { lease = 7, day = DAY } = {}) => ({
  ...{ day, task: 't_1', attempt: 1, lease, seq, at: 1000 + seq, lines },
});

test('lines come back in order, with those of each lease together', async () => {
  expect(await rows.append(entry(1, ['a\0b', 'ü']))).toBe(true);
  await rows.append(entry(1, ['other lease'], { lease: 9 }));
  await rows.append(entry(2, ['c']));

  const read = await rows.read(DAY, 't_1');

  expect(read.map(({ lease, seq, lines }) => [lease, seq, lines])).toEqual([
    [7, 1, ['a\0b', 'ü']],
    [7, 2, ['c']],
    [9, 1, ['other lease']],
  ]);
  expect(await rows.read(DAY, 't_2')).toEqual([]);
  expect(await rows.read('2020-01-01', 't_1')).toEqual([]);
});

test('a repeat is dropped, also after another process took over', async () => {
  await rows.append(entry(2, ['x']));

  expect(await rows.append(entry(2, ['x']))).toBe(false);
  const later = open();
  expect(await later.append(entry(1, ['older']))).toBe(false);
  await later.close();

  expect(await rows.read(DAY, 't_1')).toHaveLength(1);
});

test('a lease over its limit loses its oldest half', async () => {
  rows = open({ leaseBytesMax: 1000 });
  for (let seq = 1; seq <= 20; seq++) await rows.append(entry(seq, ['x'.repeat(96)]));

  const kept = (await rows.read(DAY, 't_1')).map(({ seq }) => seq);

  expect(kept.at(-1)).toBe(20);
  expect(kept.length).toBeLessThanOrEqual(10);
  expect(kept.length).toBeGreaterThanOrEqual(5);
});

test('old days are dropped whole, and lines for one make it again', async () => {
  for (const day of ['2026-11-16', '2026-11-17', DAY]) await rows.append(entry(1, ['x'], { day }));

  await rows.sweep('2026-11-17');
  expect(await rows.read('2026-11-16', 't_1')).toEqual([]);
  expect(await rows.read('2026-11-17', 't_1')).toHaveLength(1);

  await open({ totalBytesMax: 0 }).sweep('2000-01-01');
  expect(await rows.read('2026-11-17', 't_1')).toEqual([]);
  expect(await rows.read(DAY, 't_1')).toHaveLength(1);
  expect(await rows.append(entry(2, ['again'], { day: '2026-11-16' }))).toBe(true);
});
