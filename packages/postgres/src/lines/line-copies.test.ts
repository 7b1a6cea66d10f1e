import { afterEach, beforeEach, expect, test } from 'vitest';
import { TempStore } from '../testing/store-fixture.ts';
import { LineCopies } from './line-copies.ts';
import { type LineEntry, LineRows } from './line-rows.ts';

let store: TempStore;
let copies: LineCopies;
beforeEach(async () => {
  store = await TempStore.create();
  copies = new LineCopies(store.address);
});
afterEach(async () => {
  await copies.close();
  await store.dispose();
});

function entry(day: string, task: string, seq: number): LineEntry {
  return { day, task, attempt: 1, lease: 7, seq, at: 1000 + seq, lines: [`${task}\u0000`, 'é'] };
}

async function readAll(): Promise<LineEntry[]> {
  const all: LineEntry[] = [];
  for await (const part of copies.read()) all.push(...part);
  return all;
}

test('all entries come back in order, however many there are', async () => {
  const many = Array.from({ length: 1200 }, (_, n) => entry('2026-11-18', 'b', n + 1));
  const others = [entry('2026-11-17', 'a', 1), entry('2026-11-17', 'c', 1)];

  await copies.write('2026-11-18', many);
  await copies.write('2026-11-17', others);

  expect(await readAll()).toEqual([...others, ...many]);
});

test('a server reads what was copied, and a copy that is repeated adds nothing', async () => {
  const only = entry('2026-11-18', 'a', 1);
  await copies.write('2026-11-18', [only]);
  await copies.write('2026-11-18', [only]);
  const rows = new LineRows({ address: store.address });

  const { day: _, task: __, ...stored } = only;
  expect(await rows.read('2026-11-18', 'a')).toEqual([stored]);
  await rows.close();
});
