import { expect, test } from 'vitest';
import type { Task } from '../api/answers.ts';
import { stylesFor } from '../screen/styles.ts';
import { deadTable } from './dead-letter-commands.ts';
import { taskTable, taskText } from './task-text.ts';

const NOW = Date.parse('2030-01-01T00:00:10.000Z');
const START = '2030-01-01T00:00:00.000Z';
const PLAIN = stylesFor({ isTerminal: false, env: {} } as never);

function task(given: object = {}): Task {
  return {
    id: 't_1',
    type: 'resize',
    state: 'queued',
    reason: 'submitted',
    priority: 4,
    attempt: 0,
    attempts: [],
    tags: {},
    input: 1,
    output: null,
    error: null,
    progress: null,
    runAt: null,
    cancelRequestedAt: null,
    submittedAt: START,
    endedAt: null,
    ...given,
  } as unknown as Task;
}

test('a task shows its tags', () => {
  expect(
    taskText(task({ tags: { city: 'Ulm', 'a\n': 'b' } }), { styles: PLAIN, now: NOW }),
  ).toMatch(/^tags +city=Ulm a\\n=b$/m);
  expect(taskText(task(), { styles: PLAIN, now: NOW })).not.toContain('tags');
});

test('a table has the errors, if there are any', () => {
  const failed = task({ state: 'failed', reason: 'failed', error: { message: 'no disk' } });
  const lost = task({ state: 'waiting', reason: 'worker_lost' });

  expect(taskTable([task()], undefined, NOW)).not.toContain('ERROR');
  const lines = taskTable([task(), failed, lost], undefined, NOW).split('\n');
  expect(lines[0]).toMatch(/INPUT +ERROR$/);
  expect(lines[2]).toMatch(/ no disk$/);
  expect(lines[3]).toMatch(/ its worker was lost$/);
});

test('a table is as wide as the terminal: long inputs and errors are cut, ids are not', () => {
  const failed = task({
    id: 't_01k7f6b1oj0000000001',
    state: 'failed',
    reason: 'failed',
    input: { text: 'x'.repeat(90) },
    error: { message: 'e'.repeat(150) },
  });

  for (const columns of [100, 120, 180]) {
    const lines = taskTable([failed], columns, NOW).split('\n');

    expect(Math.max(...lines.map((line) => line.length))).toBe(columns);
    expect(lines[1]).toContain(failed.id);
    expect(lines[1]).toMatch(/\{"text":"x+….* e+…$/);
  }
  expect(taskTable([failed], undefined, NOW)).toContain('e'.repeat(150));
});

test('dead letters show why they ended, also without an error', () => {
  const reasons = ['worker_lost', 'run_timeout', 'heartbeat_timeout', 'total_timeout'];
  const dead = reasons.map((reason) => task({ state: 'timed_out', reason, endedAt: START }));

  const lines = deadTable(dead, 120, NOW).split('\n').slice(1);

  expect(lines.map((line) => line.split(' ago  ')[1])).toEqual([
    'its worker was lost',
    'it ran longer than runMs',
    'its handler was silent longer than heartbeatMs',
    'it took longer than totalMs',
  ]);
});

/** Attempts that ended one second after another. */
function attempts(...ends: readonly object[]): object[] {
  return ends.map((end, n) => ({
    attempt: n + 1,
    worker: 'w-1',
    endedAt: new Date(Date.parse(START) + n * 1000).toISOString(),
    ...end,
  }));
}

test('a task shows why each attempt failed, when and where', () => {
  const failed = { outcome: 'failed', error: { message: 'no\ndisk', code: 'ENOSPC' } };
  const tried = attempts(failed, { outcome: 'worker_lost' }, { outcome: 'succeeded' });

  const text = taskText(task({ attempt: 3, attempts: tried }), { styles: PLAIN, now: NOW });

  expect(text.split('\n').slice(-2)).toEqual([
    'failures     #1  2030-01-01T00:00:00.000Z  w-1  no\\ndisk (ENOSPC)',
    '             #2  2030-01-01T00:00:01.000Z  w-1  its worker was lost',
  ]);
});

test('of very many attempts the newest are shown, each on one line of the terminal', () => {
  const failed = { outcome: 'failed', error: { message: 'x'.repeat(500) } };
  const tried = attempts(...Array.from({ length: 100 }, () => failed));

  const lines = taskText(task({ attempts: tried }), { styles: PLAIN, columns: 100, now: NOW })
    .split('\n')
    .filter((line) => line.includes('#') || line.includes('earlier'));

  expect(lines).toHaveLength(11);
  expect(lines[0]).toBe('failures     90 earlier ones, which --json shows');
  expect(lines.at(-1)).toMatch(/^ {13}#100 .* x+…$/);
  expect(Math.max(...lines.map(({ length }) => length))).toBe(100);
});
