import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NO_SLOT, type Slot } from '../base/ids.ts';
import { hashNumber, SlotIndex } from './slot-index.ts';

const CAPACITY = 200;

test('a number that was never added is not found', () => {
  expect(find(emptyIndex(), 1)).toBe(NO_SLOT);
});

test('numbers that differ only above 32 bits are told apart', () => {
  const model = emptyIndex();
  const numbers = [5, 5 + 2 ** 32, 5 + 2 ** 33, 5 + 2 ** 35];

  numbers.forEach((number, slot) => {
    add(model, slot, number);
  });

  expect(numbers.map((number) => find(model, number))).toEqual([0, 1, 2, 3]);
});

test('the index is filled to its capacity, emptied and filled again', () => {
  const model = emptyIndex();

  for (let round = 0; round < 3; round++) {
    for (let slot = 0; slot < CAPACITY; slot++) add(model, slot, 1 + round * CAPACITY + slot);
    expectSame(model);
    for (let slot = CAPACITY - 1; slot >= 0; slot--) remove(model, slot);
    expectSame(model);
  }
});

test('numbers in strides are all found while the index grows and shrinks', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(1, 2, 16, 64, 1000, 2 ** 16, 2 ** 28),
      fc.integer({ min: 1, max: CAPACITY }),
      fc.integer({ min: 1, max: 7 }),
      (stride, count, keepEvery) => {
        const model = emptyIndex();

        for (let slot = 0; slot < count; slot++) add(model, slot, 1 + slot * stride);
        expectSame(model);
        for (let slot = 0; slot < count; slot++) if (slot % keepEvery !== 0) remove(model, slot);

        expectSame(model);
      },
    ),
  );
});

test('the index answers like a map after any adds and removals', () => {
  const runs = fc.array(
    fc.record({ add: fc.boolean(), slot: fc.nat(CAPACITY - 1), count: fc.nat(60) }),
    { maxLength: 20, size: 'max' },
  );
  fc.assert(
    fc.property(runs, fc.constantFrom(1, 3, 4096), (list, stride) => {
      const model = emptyIndex();
      let next = 1;

      for (const run of list) {
        for (let i = 0; i < run.count; i++) {
          const slot = (run.slot + i) % CAPACITY;
          const isUsed = model.numbers[slot] !== 0;
          if (run.add && !isUsed) add(model, slot, next);
          if (!run.add && isUsed) remove(model, slot);
          next += stride;
        }
        expectSame(model);
      }
    }),
  );
});

interface IndexModel {
  readonly index: SlotIndex;
  readonly numbers: Float64Array;
  readonly slots: Map<number, number>;
  readonly removed: Set<number>;
}

function emptyIndex(): IndexModel {
  const numbers = new Float64Array(CAPACITY);
  const index = new SlotIndex(CAPACITY);
  return { index, numbers, slots: new Map(), removed: new Set() };
}

function add(model: IndexModel, slot: number, number: number): void {
  model.numbers[slot] = number;
  model.index.add(slot as Slot, hashNumber(number));
  model.slots.set(number, slot);
}

function remove(model: IndexModel, slot: number): void {
  const number = model.numbers[slot];
  model.index.remove(slot as Slot);
  model.numbers[slot] = 0;
  model.slots.delete(number);
  model.removed.add(number);
}

/** As users of the index do: the hash finds candidates, which are then compared. */
function find({ index, numbers }: IndexModel, number: number): Slot {
  let slot = index.first(hashNumber(number));
  while (slot !== NO_SLOT && numbers[slot] !== number) slot = index.following(slot);
  return slot;
}

function expectSame(model: IndexModel): void {
  const known = [...model.slots.keys()];
  const gone = [...model.removed];
  expect(known.map((number) => find(model, number))).toEqual([...model.slots.values()]);
  expect(gone.map((number) => find(model, number))).toEqual(gone.map(() => NO_SLOT));
}

test('slots with the same hash are all found, one after the other', () => {
  const index = new SlotIndex(CAPACITY);
  for (const slot of [3, 5, 7]) index.add(slot as Slot, 0xdeadbeef);
  index.add(4 as Slot, 0xdeadbeef ^ 0x80000000);

  const found: Slot[] = [];
  for (let at = index.first(0xdeadbeef); at !== NO_SLOT; at = index.following(at)) found.push(at);

  expect(found.toSorted()).toEqual([3, 5, 7]);
});
