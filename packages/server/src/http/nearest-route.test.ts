import { expect, test } from 'vitest';
import { nearestPath } from './nearest-route.ts';

test.each([
  ['/v1/taks', '/v1/tasks'],
  ['/v1/task', '/v1/tasks'],
  ['/v1/tasks/t_1/cancle', '/v1/tasks/t_1/cancel'],
  ['/v2/tasks', '/v1/tasks'],
  ['/tasks', '/v1/tasks'],
  ['/runs/r_1', '/v1/runs/r_1'],
  ['/health/raedy', '/health/ready'],
  ['/v1/taks/t_1/cancle', undefined],
  ['/v1/something', undefined],
  ['/', undefined],
  [`/v1/${'tasks'.repeat(1000)}`, undefined],
  ['/favicon.ico', undefined],
])('%s stands for %s', (path, meant) => {
  expect(nearestPath(path)).toBe(meant);
});
