import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NO_SLOT, type Slot, type TaskNumber } from './ids.ts';
import { TaskIndex } from './task-index.ts';

const CAPACITY = 200;

test('a number that was never added is not found', () => {
  const { index } = emptyIndex();

  expect(index.find(1 as TaskNumber)).toBe(NO_SLOT);
});

test('numbers that differ only above 32 bits are told apart', () => {
  const model = emptyIndex();
  const numbers = [5, 5 + 2 ** 32, 5 + 2 ** 33, 5 + 2 ** 35];

  numbers.forEach((number, slot) => {
    add(model, slot, number);
  });

  expect(numbers.map((number) => model.index.find(number as TaskNumber))).toEqual([0, 1, 2, 3]);
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
  readonly index: TaskIndex;
  readonly numbers: Float64Array;
  readonly slots: Map<number, number>;
  readonly removed: Set<number>;
}

function emptyIndex(): IndexModel {
  const numbers = new Float64Array(CAPACITY);
  const index = new TaskIndex(CAPACITY, numbers);
  return { index, numbers, slots: new Map(), removed: new Set() };
}

function add(model: IndexModel, slot: number, number: number): void {
  model.numbers[slot] = number;
  model.index.add(slot as Slot);
  model.slots.set(number, slot);
}

function remove(model: IndexModel, slot: number): void {
  const number = model.numbers[slot];
  model.index.remove(slot as Slot);
  model.numbers[slot] = 0;
  model.slots.delete(number);
  model.removed.add(number);
}

function expectSame({ index, slots, removed }: IndexModel): void {
  const known = [...slots.keys()];
  const gone = [...removed];
  expect(known.map((number) => index.find(number as TaskNumber))).toEqual([...slots.values()]);
  expect(gone.map((number) => index.find(number as TaskNumber))).toEqual(gone.map(() => NO_SLOT));
}
