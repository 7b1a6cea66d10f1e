import { expect, test } from 'vitest';
import { heatCell } from './heat-cell.ts';

const worker = {
  connected: true,
  capacity: { slots: 8, cpu: 4, diskMb: 1000 },
  used: { slots: 3, cpu: 2 },
  measured: { slots: 2, cpu: 1.7, memoryMb: 300, at: '2026-11-18T08:00:00.000Z' },
};

test('a cell has what is reserved, what is used and what there is', () => {
  expect(heatCell(worker, 'cpu')).toEqual({ reserved: 2, used: 1.7, max: 4 });
  expect(heatCell(worker, 'slots')).toEqual({ reserved: 3, used: 2, max: 8 });
  expect(heatCell(worker, 'memoryMb')).toEqual({ reserved: 0, used: 300, max: undefined });
  expect(heatCell(worker, 'diskMb')).toEqual({ reserved: 0, used: undefined, max: 1000 });
});

test('slots whose tasks have ended since they were counted are not in use', () => {
  expect(heatCell({ ...worker, used: { slots: 1 } }, 'slots').used).toBe(1);
});

test('what a lost worker measured last is not shown as its use', () => {
  expect(heatCell({ ...worker, connected: false }, 'cpu').used).toBeUndefined();
});
