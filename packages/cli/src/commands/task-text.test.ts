import { expect, test } from 'vitest';
import type { Task } from '../api/answers.ts';
import { stylesFor } from '../screen/styles.ts';
import { taskTable, taskText } from './task-text.ts';

const NOW = Date.parse('2030-01-01T00:00:10.000Z');
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
    submittedAt: '2030-01-01T00:00:00.000Z',
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

  expect(taskTable([task()], NOW)).not.toContain('ERROR');
  const lines = taskTable([task(), failed, lost], NOW).split('\n');
  expect(lines[0]).toMatch(/INPUT +ERROR$/);
  expect(lines[2]).toMatch(/ no disk$/);
  expect(lines[3]).toMatch(/ its worker was lost$/);
});
