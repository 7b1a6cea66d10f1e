import { getHeapStatistics } from 'node:v8';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { MemoryReturn } from './memory-return.ts';

const MIB = 1024 * 1024;

/** A heap that holds what the test says, and keeps 10 MiB of it. */
class TestHeap {
  holds = 200 * MIB;
  collections = 0;
  tookMs = 20;

  held(): number {
    return this.holds;
  }

  collect(): number {
    this.collections += 1;
    this.holds = Math.min(this.holds, 10 * MIB);
    return this.tookMs;
  }
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function watched() {
  const heap = new TestHeap();
  const load = { share: 0 };
  const utilization = () => ({ idle: 0, active: 0, utilization: load.share });
  const memory = new MemoryReturn(heap, utilization).begin();
  /** Half a second passes, in which the thread is busy for this share of the time. */
  const pass = (share: number): number => {
    load.share = share;
    vi.advanceTimersByTime(500);
    return heap.collections;
  };
  return { heap, memory, pass };
}

test('memory that a burst left is given back once, when the thread rests', () => {
  const { heap, pass } = watched();

  expect([0.9, 0.05, 0.01, 0].map(pass)).toEqual([0, 0, 1, 1]);

  expect(heap.holds).toBe(10 * MIB);
});

test('a thread that has little to do is not stopped again and again', () => {
  const { heap, pass } = watched();
  [0.9, 0].forEach(pass);

  for (let looks = 0; looks < 20; looks++) {
    heap.holds += 30 * MIB;
    pass(looks % 2 === 0 ? 0.01 : 0.25);
  }
  expect(heap.collections).toBe(1);

  expect([0.9, 0].map(pass)).toEqual([1, 2]);
});

test('a little garbage is not worth a collection', () => {
  const { heap, pass } = watched();
  [0.9, 0].forEach(pass);
  heap.holds = 25 * MIB;

  expect([0.9, 0].map(pass)).toEqual([1, 1]);
});

test('a heap that takes long to collect is left alone from then on', () => {
  const { heap, pass } = watched();
  heap.tookMs = 101;
  [0.9, 0].forEach(pass);
  heap.holds = 200 * MIB;

  expect([0.9, 0].map(pass)).toEqual([1, 1]);
});

test('garbage of this thread is collected', () => {
  let share = 1;
  const memory = new MemoryReturn(undefined, () => ({ idle: 0, active: 0, utilization: share }));
  let numbers: unknown[] = Array.from({ length: 2_000_000 }, (_, n) => ({ n }));
  expect(numbers).toHaveLength(2_000_000);
  const before = getHeapStatistics().total_physical_size;
  numbers = [];
  memory.look();
  share = 0;

  memory.look();

  expect(getHeapStatistics().total_physical_size).toBeLessThan(before - 32 * MIB);
  expect(numbers).toEqual([]);
});
