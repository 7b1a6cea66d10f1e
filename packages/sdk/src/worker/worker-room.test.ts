import { expect, test } from 'vitest';
import { pushed } from '../testing/worker-under-test.ts';
import { needsOf, WorkerRoom } from './worker-room.ts';

function needs(...given: Parameters<typeof pushed>) {
  return needsOf(pushed(...given));
}

const TYPES = [{ type: 'a' }];

test.each([
  [{}, { slots: 100, cpu: 1e6, memoryMb: 1e6, diskMb: 1e6 }, true],
  [{}, { slots: 101 }, false],
  [{}, { slots: 1, gpu: 1 }, false],
  [{}, { slots: 1, custom: { licence: 0.001 } }, false],
  [{ cpu: 0 }, { slots: 1, cpu: 0.001 }, false],
  [{ gpu: 1, custom: { licence: 2 } }, { slots: 1, gpu: 1, custom: { licence: 2 } }, true],
  [{ custom: { cpu: 2 } }, { slots: 1, cpu: 5, custom: { cpu: 3 } }, false],
])('a worker with %j has room for %j: %s', (capacity, resources, fits) => {
  const room = new WorkerRoom(capacity, TYPES);

  expect(room.fits(needs('l_1', { resources }))).toBe(fits);
});

test('fractions add up exactly, and what is given back is free again', () => {
  const room = new WorkerRoom({ cpu: 0.3 }, TYPES);
  const tasks = [0.1, 0.2].map((cpu, index) => needs(`l_${index}`, { resources: { cpu } }));

  for (const task of tasks) {
    expect(room.fits(task)).toBe(true);
    room.take(task);
  }
  expect(room.fits(needs('l_2', { resources: { cpu: 0.001 } }))).toBe(false);
  for (const task of tasks) room.giveBack(task);

  expect(room.fits(needs('l_2', { resources: { cpu: 0.3 } }))).toBe(true);
});

test('of a type run as many at once as was said, and none of a type that was not', () => {
  const room = new WorkerRoom({}, [{ type: 'a', concurrency: 1 }, { type: 'b' }]);
  room.take(needs('l_1'));

  expect(room.fits(needs('l_2'))).toBe(false);
  expect(room.fits(needs('l_2', { type: 'b' }))).toBe(true);
  expect(room.fits(needs('l_2', { type: 'c' }))).toBe(false);
});

test('a new capacity counts for what is already in use', () => {
  const room = new WorkerRoom({ slots: 2 }, TYPES);
  room.take(needs('l_1'));

  room.change({ slots: 1 });

  expect(room.fits(needs('l_2'))).toBe(false);
});
