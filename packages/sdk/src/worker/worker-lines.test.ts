import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { WorkerNotice } from './worker.ts';
import { writeTrouble } from './worker-lines.ts';

const lines: string[] = [];

beforeEach(() => {
  lines.length = 0;
  vi.spyOn(console, 'error').mockImplementation((line: string) => void lines.push(line));
});

afterEach(() => vi.restoreAllMocks());

const lost = (why: string): WorkerNotice => ({ type: 'disconnected', why, retryInMs: 1 });
const connected: WorkerNotice = { type: 'connected', address: 'http://b', resumed: false };

test('each reason for a lost connection is written once, however often it is tried', () => {
  const write = writeTrouble(['http://a', 'http://b']);

  for (const why of ['refused', 'refused', 'no such host', 'refused', 'no such host']) {
    write(lost(why));
  }

  expect(lines).toEqual([
    'sluice: no connection to http://a, http://b (refused); trying again',
    'sluice: no connection to http://a, http://b (no such host); trying again',
  ]);
});

test('a connection is written only after trouble, and later trouble is written again', () => {
  const write = writeTrouble(['http://b']);

  write(connected);
  expect(lines).toEqual([]);
  write(lost('refused'));
  write(connected);
  write(connected);
  write(lost('refused'));

  expect(lines).toEqual([
    'sluice: no connection to http://b (refused); trying again',
    'sluice: connected to http://b',
    'sluice: no connection to http://b (refused); trying again',
  ]);
});

test('workers of one process do not share what they have written', () => {
  writeTrouble(['http://a'])(lost('refused'));
  writeTrouble(['http://a'])(lost('refused'));

  expect(lines).toHaveLength(2);
});

test('other notices are written each time', () => {
  const write = writeTrouble(['http://a']);

  for (const _ of [1, 2]) {
    write({ type: 'report_refused', why: 'too late' });
    write({ type: 'definition_differs', taskType: 'a', fields: ['retry', 'tags'] });
    write({ type: 'listener_failed', taskId: 't_1', cause: 'broken' });
  }

  const each = [
    'sluice: the server refused a report: too late',
    "sluice: the definition of 'a' differs from the registered one in retry, tags; " +
      'register it again, or change it',
    'sluice: a listener of t_1 failed: broken',
  ];
  expect(lines).toEqual([...each, ...each]);
});
