import { expect, test } from 'vitest';
import type { WorkerUse } from '../calls/platform.ts';
import { VirtualTime } from '../testing/virtual-time.ts';
import { isOtherUse, type ToldUse, UseWatch } from './use-watch.ts';

/** A watch on a virtual clock, with what it told. */
function watched(measure?: () => WorkerUse | Promise<WorkerUse>) {
  const time = new VirtualTime();
  const told: ToldUse[] = [];
  const watch = new UseWatch({
    startTimer: (delayMs, run) => time.startTimer(delayMs, run),
    measure,
    slots: () => 2,
    tell: (use) => void told.push(use),
  });
  /** Lets the measurement of a look end. */
  const pass = async (ms: number) => {
    time.advance(ms);
    await new Promise(setImmediate);
  };
  return { watch, told, pass, time };
}

test('the first measurement is told, and later ones when they differ', async () => {
  const use = { cpu: 1, memoryMb: 400 };
  const { told, pass } = watched(() => ({ ...use }));

  await pass(1000);
  await pass(5000);
  use.cpu = 1.5;
  await pass(5000);

  expect(told).toEqual([
    { cpu: 1, memoryMb: 400, slots: 2 },
    { cpu: 1.5, memoryMb: 400, slots: 2 },
  ]);
});

test('a worker that cannot be measured tells its slots', async () => {
  const { told, pass } = watched(() => Promise.reject(new Error('no control group')));

  await pass(1000);

  expect(told).toEqual([{ slots: 2 }]);
});

test('a watch that was stopped while it measured tells nothing more', async () => {
  const { watch, told, pass, time } = watched(() => ({ cpu: 1 }));

  time.advance(1000);
  watch.stop();
  await pass(60_000);

  expect(told).toEqual([]);
  expect(time.pending).toBe(0);
});

test('small changes are not worth a request', () => {
  const told = { cpu: 2, memoryMb: 1000, slots: 3 };

  expect(isOtherUse(told, { cpu: 2.1, memoryMb: 1050, slots: 3 })).toBe(false);
  expect(isOtherUse(told, { cpu: 2.5, memoryMb: 1000, slots: 3 })).toBe(true);
  expect(isOtherUse(told, { cpu: 2, memoryMb: 1200, slots: 3 })).toBe(true);
  expect(isOtherUse(told, { cpu: 2, memoryMb: 1000, slots: 4 })).toBe(true);
  expect(isOtherUse(told, { memoryMb: 1000, slots: 3 })).toBe(true);
});
