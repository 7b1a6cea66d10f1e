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
  expect(taskText(task({ tags: { city: 'Ulm', 'a\n': 'b' } }), PLAIN, NOW)).toMatch(
    /^tags +city=Ulm a\\n=b$/m,
  );
  expect(taskText(task(), PLAIN, NOW)).not.toContain('tags');
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
