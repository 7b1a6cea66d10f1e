import { getHeapStatistics } from 'node:v8';
import { expect, test } from 'vitest';
import { MemoryReturn } from './memory-return.ts';

const MIB = 1024 * 1024;

/** A heap that holds what the test says, and keeps 10 MiB of it. */
class TestHeap {
  holds = 10 * MIB;
  collections = 0;

  held(): number {
    return this.holds;
  }

  collect(): void {
    this.collections += 1;
    this.holds = Math.min(this.holds, 10 * MIB);
  }
}

function watched() {
  const heap = new TestHeap();
  const load = { share: 0 };
  const utilization = () => ({ idle: 0, active: 0, utilization: load.share });
  const memory = new MemoryReturn(heap, utilization);
  return { heap, load, memory };
}

test('memory that a burst left is given back once, when the thread rests', () => {
  const { heap, load, memory } = watched();
  heap.holds = 200 * MIB;
  load.share = 0.5;

  memory.look();
  expect(heap.collections).toBe(0);
  load.share = 0.05;
  memory.look();
  memory.look();

  expect([heap.collections, heap.holds]).toEqual([1, 10 * MIB]);
});

test('a little garbage is not worth a collection', () => {
  const { heap, memory } = watched();
  heap.holds = 200 * MIB;
  memory.look();
  heap.holds = 25 * MIB;

  memory.look();

  expect(heap.collections).toBe(1);
});

test('garbage of this thread is collected', () => {
  const memory = new MemoryReturn(undefined, () => ({ idle: 0, active: 0, utilization: 0 }));
  let numbers: unknown[] = Array.from({ length: 2_000_000 }, (_, n) => ({ n }));
  expect(numbers).toHaveLength(2_000_000);
  const before = getHeapStatistics().total_physical_size;
  numbers = [];

  memory.look();

  expect(getHeapStatistics().total_physical_size).toBeLessThan(before - 32 * MIB);
  expect(numbers).toEqual([]);
});
