import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Slot } from '../base/ids.ts';
import { PRIORITY_LEVELS } from '../task/task-state.ts';
import { ReadyQueue, rankOf } from './ready-queue.ts';

const NO_USE = {
  name: 'default',
  index: 0,
  tasks: 0,
  payloadBytes: 0,
  dedupeKeys: 0,
  taskTypes: 0,
  schedules: 0,
  shapes: new Map(),
};

const SLOTS = 16;
const SHAPES = 3;

test('an empty queue has no open lane and no level', () => {
  const queue = emptyQueue();

  expect([queue.open, queue.topLevel(), queue.depth]).toEqual([[], -1, 0]);
});

test('the highest level is known, and in a lane the oldest task is the head', () => {
  const queue = emptyQueue();
  queue.append(0 as Slot, 0, 0);
  queue.append(1 as Slot, 0, 8);
  queue.append(2 as Slot, 0, 8);

  expect(queue.topLevel()).toBe(8);
  expect(queue.lane(0, 8)?.head).toBe(1);
});

test('a task that is put back at the head goes before all others of its lane only', () => {
  const queue = emptyQueue();
  queue.append(1 as Slot, 0, 4);
  queue.append(2 as Slot, 1, 4);

  queue.prepend(3 as Slot, 0, 4);

  expect(queue.lane(0, 4)?.head).toBe(3);
  expect(queue.lane(1, 4)?.head).toBe(2);
});

test('tasks of one level wait in a lane per shape', () => {
  const queue = emptyQueue();

  queue.append(1 as Slot, 0, 4);
  queue.append(2 as Slot, 5, 4);
  queue.append(3 as Slot, 5, 4);

  expect(queue.open.map(({ shape, length }) => [shape, length])).toEqual([
    [0, 1],
    [5, 2],
  ]);
  expect(queue.depthOf(4)).toBe(3);
});

test('shapes that come and go leave no lane behind (queue.no-empty-lane)', () => {
  const queue = emptyQueue();

  for (let shape = 1; shape <= 1000; shape++) {
    queue.append(1 as Slot, shape, 4);
    queue.remove(1 as Slot, shape, 4);
  }

  expect(queue.open).toEqual([]);
  expect(queue.lane(1000, 4)).toBeUndefined();
  expect(Object.values(queue).filter((value) => value instanceof Map)[0].size).toBe(0);
});

test('a queue is an array per shape and level and says which have tasks (queue.open-lanes)', () => {
  const actions = fc.array(
    fc.record({
      kind: fc.constantFrom('append' as const, 'prepend' as const, 'remove' as const),
      slot: fc.nat(SLOTS - 1),
      shape: fc.nat(SHAPES - 1),
      level: fc.nat(PRIORITY_LEVELS - 1),
    }),
    { maxLength: 80, size: 'max' },
  );
  fc.assert(
    fc.property(actions, (list) => {
      const queue = emptyQueue();
      const model: Model = Array.from({ length: SHAPES * PRIORITY_LEVELS }, () => []);

      for (const action of list) {
        act(queue, model, action);

        const open = queue.open.map(({ shape, level }) => shape * PRIORITY_LEVELS + level);
        const levels = new Set(open.map((key) => 2 ** (key % PRIORITY_LEVELS)));
        expect(open.toSorted((a, b) => a - b)).toEqual(
          model.flatMap((slots, key) => (slots.length > 0 ? [key] : [])),
        );
        for (const { shape, level, head, length, place } of queue.open) {
          const slots = model[shape * PRIORITY_LEVELS + level];
          expect(queue.ranks[place]).toBe(rankOf(level, slots[0] * 10));
          expect([head, length]).toEqual([slots[0], slots.length]);
        }
        expect(queue.levels).toBe([...levels].reduce((sum, bit) => sum + bit, 0));
        expect(queue.depth).toBe(model.flat().length);
      }
    }),
  );
});

/** The slots of each lane, first to last, by shape and level. */
type Model = number[][];

function act(
  queue: ReadyQueue,
  model: Model,
  action: { kind: 'append' | 'prepend' | 'remove'; slot: number; shape: number; level: number },
): void {
  const slot = action.slot as Slot;
  const current = model.findIndex((slots) => slots.includes(slot));
  if (action.kind === 'remove') {
    if (current < 0) return;
    queue.remove(slot, Math.floor(current / PRIORITY_LEVELS), current % PRIORITY_LEVELS);
    model[current].splice(model[current].indexOf(slot), 1);
    return;
  }
  if (current >= 0) return;
  queue[action.kind](slot, action.shape, action.level);
  const slots = model[action.shape * PRIORITY_LEVELS + action.level];
  if (action.kind === 'append') slots.push(slot);
  else slots.unshift(slot);
}

function emptyQueue(): ReadyQueue {
  const columns = {
    next: new Int32Array(SLOTS),
    previous: new Int32Array(SLOTS),
    order: Float64Array.from({ length: SLOTS }, (_, slot) => slot * 10),
  };
  return new ReadyQueue({ index: 0, key: 'hello', use: NO_USE }, columns);
}
