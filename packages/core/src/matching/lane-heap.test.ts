import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Slot } from '../base/ids.ts';
import { ReadyQueue } from '../state/ready-queue.ts';
import { LaneHeap } from './lane-heap.ts';

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

test('lanes give their tasks by level, and in a level in the order of joining', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ shape: fc.nat(4), level: fc.nat(8) }), { maxLength: 40 }),
      (tasks) => {
        const queue = queueOf(tasks);
        const heap = new LaneHeap([...queue.open]);

        const taken: number[] = [];
        for (let lane = heap.first; lane !== undefined; lane = heap.first) {
          if (lane.length === 0) {
            heap.dropFirst();
            continue;
          }
          taken.push(lane.head);
          queue.remove(lane.head, lane.shape, lane.level);
          heap.update();
        }

        const inLine = tasks
          .map(({ level }, slot) => ({ level, slot }))
          .toSorted((a, b) => b.level - a.level || a.slot - b.slot);
        expect(taken).toEqual(inLine.map(({ slot }) => slot));
      },
    ),
  );
});

test('a lane that is dropped gives nothing more', () => {
  const queue = queueOf([
    { shape: 1, level: 8 },
    { shape: 2, level: 4 },
    { shape: 1, level: 8 },
  ]);
  const heap = new LaneHeap([...queue.open]);

  heap.dropFirst();

  expect(heap.first?.shape).toBe(2);
  heap.dropFirst();
  expect(heap.first).toBeUndefined();
});

function queueOf(tasks: readonly { shape: number; level: number }[]): ReadyQueue {
  const columns = {
    next: new Int32Array(tasks.length),
    previous: new Int32Array(tasks.length),
    order: Float64Array.from(tasks, (_, slot) => slot),
  };
  const queue = new ReadyQueue({ index: 0, key: 'hello', use: NO_USE }, columns);
  tasks.forEach(({ shape, level }, slot) => {
    queue.append(slot as Slot, shape, level);
  });
  return queue;
}
