import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NO_SLOT, type Slot } from './ids.ts';
import { ReadyQueue } from './ready-queue.ts';
import { PRIORITY_LEVELS } from './task-state.ts';

const SLOTS = 16;

test('an empty queue has no first task and no level', () => {
  const queue = emptyQueue();

  expect([queue.first(), queue.topLevel(), queue.depth]).toEqual([NO_SLOT, -1, 0]);
});

test('the highest level goes first, and in a level the oldest task', () => {
  const queue = emptyQueue();
  queue.append(0 as Slot, 0);
  queue.append(1 as Slot, 8);
  queue.append(2 as Slot, 4);
  queue.append(3 as Slot, 8);

  const order = drain(queue, new Map([...[0, 8, 4, 8].entries()]));

  expect(order).toEqual([1, 3, 2, 0]);
});

test('a task that is put back at the head goes before all others of its level only', () => {
  const queue = emptyQueue();
  queue.append(1 as Slot, 4);
  queue.append(2 as Slot, 5);

  queue.prepend(3 as Slot, 4);

  expect(queue.first()).toBe(2);
  queue.remove(2 as Slot, 5);
  expect(queue.first()).toBe(3);
});

test('a queue is an array per level, and its bitmap says which have tasks (Q1)', () => {
  const actions = fc.array(
    fc.record({
      kind: fc.constantFrom('append' as const, 'prepend' as const, 'remove' as const),
      slot: fc.nat(SLOTS - 1),
      level: fc.nat(PRIORITY_LEVELS - 1),
    }),
    { maxLength: 80, size: 'max' },
  );
  fc.assert(
    fc.property(actions, (list) => {
      const queue = emptyQueue();
      const model: number[][] = Array.from({ length: PRIORITY_LEVELS }, () => []);

      for (const action of list) {
        act(queue, model, action);

        const top = model.findLastIndex((slots) => slots.length > 0);
        const bits = model.reduce((sum, slots, n) => sum + (slots.length > 0 ? 2 ** n : 0), 0);
        expect(queue.levels).toBe(bits);
        expect(queue.topLevel()).toBe(top);
        expect(queue.first()).toBe(top < 0 ? NO_SLOT : model[top][0]);
        expect(model.map((_, level) => queue.depthOf(level))).toEqual(model.map((s) => s.length));
        expect(queue.depth).toBe(model.flat().length);
      }
    }),
  );
});

function act(
  queue: ReadyQueue,
  model: number[][],
  action: { kind: 'append' | 'prepend' | 'remove'; slot: number; level: number },
): void {
  const slot = action.slot as Slot;
  const current = model.findIndex((slots) => slots.includes(slot));
  if (action.kind === 'remove') {
    if (current < 0) return;
    queue.remove(slot, current);
    model[current].splice(model[current].indexOf(slot), 1);
    return;
  }
  if (current >= 0) return;
  queue[action.kind](slot, action.level);
  if (action.kind === 'append') model[action.level].push(slot);
  else model[action.level].unshift(slot);
}

function emptyQueue(): ReadyQueue {
  const links = { next: new Int32Array(SLOTS), previous: new Int32Array(SLOTS) };
  return new ReadyQueue(0, 'hello', links);
}

function drain(queue: ReadyQueue, levels: ReadonlyMap<number, number>): number[] {
  const order: number[] = [];
  for (let slot = queue.first(); slot !== NO_SLOT; slot = queue.first()) {
    order.push(slot);
    queue.remove(slot, levels.get(slot) ?? 0);
  }
  return order;
}
