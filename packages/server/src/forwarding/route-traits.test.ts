import { expect, test } from 'vitest';
import { traitsOf } from './route-traits.ts';

test.each([
  ['GET', '/v1/events', true],
  ['GET', '/v1/changes', true],
  ['POST', '/v1/worker-sessions', true],
  ['GET', '/v1/tasks/t_1/logs?follow', true],
  ['GET', '/v1/stats?window=10m&follow=true', true],
  ['GET', '/v1/tasks/t_1/logs?follow=false', false],
  ['GET', '/v1/stats', false],
])('%s %s: a stream may be silent for any time: %j', (method, url, isStream) => {
  const { headMsMax, isLong } = traitsOf(method, url);

  expect([headMsMax === undefined, isLong]).toEqual([isStream, isStream]);
});

test.each([
  ['GET', '/v1/tasks', 10_000],
  ['POST', '/v1/tasks', 10_000],
  ['POST', '/v1/tasks?waitMs=5000', 15_000],
  ['POST', '/v1/runs?waitMs=999999999', 70_000],
  ['POST', '/v1/runs?waitMs=later', 10_000],
  ['GET', '/v1/tasks/t_1/wait', 40_000],
  ['GET', '/v1/runs/r_1/wait?timeoutMs=20', 10_020],
  ['POST', '/v1/tasks/wait', 70_000],
  ['GET', '/no/such/path', 10_000],
])('%s %s: the answer has to begin within %d ms', (method, url, headMsMax) => {
  expect(traitsOf(method, url).headMsMax).toBe(headMsMax);
});

test('a HEAD counts as a GET, and an unknown change is never repeated', () => {
  expect(traitsOf('HEAD', '/v1/tasks')).toEqual(traitsOf('GET', '/v1/tasks'));
  expect(traitsOf('POST', '/v1/nothing').repeatable).toBe('never');
  expect(traitsOf('GET', '/tasks/t_1').repeatable).toBe('always');
});

test('only blobs are passed on while they arrive', () => {
  expect(traitsOf('PUT', '/v1/blobs/abc').isUpload).toBe(true);
  expect(traitsOf('PUT', '/v1/schedules/a').isUpload).toBe(false);
});
