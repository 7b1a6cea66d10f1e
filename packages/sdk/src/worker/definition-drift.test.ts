import { expect, test } from 'vitest';
import type { TaskDefaults } from '../task/task-options.ts';
import { differingFields } from './definition-drift.ts';
import { writeTrouble } from './worker-lines.ts';

const callback = { url: 'https://a.example/hook', on: ['failed'] } as const;

test.each<[string, TaskDefaults, TaskDefaults, string[]]>([
  ['nothing', {}, {}, []],
  [
    'the order of names',
    { retry: { delayMs: 1, jitter: true } },
    { retry: { jitter: true, delayMs: 1 } },
    [],
  ],
  ['a priority', { priority: 4 }, { priority: 5 }, ['priority']],
  ['a field that is only here', { tags: { a: 'b' } }, {}, ['tags']],
  ['a field that is only there', {}, { constraints: ['exists gpu'] }, ['constraints']],
  [
    'parts',
    { timeouts: { runMs: 1 }, retry: { maxAttempts: 2 } },
    { timeouts: { runMs: 1, totalMs: 2 }, retry: { maxAttempts: 3 } },
    ['retry.maxAttempts', 'timeouts.totalMs'],
  ],
  [
    'custom resources',
    { resources: { custom: { a: 1 } } },
    { resources: {} },
    ['resources.custom'],
  ],
  ['tags', { tags: { a: '1', b: '2' } }, { tags: { b: '2', a: '1' } }, []],
  [
    'the secret, which the server hides',
    { callback: { ...callback, secret: 's' } },
    { callback },
    [],
  ],
])('%s', (_, own, registered, expected) => {
  expect(differingFields(own, registered)).toEqual(expected);
});

test('the line names the type and the fields', () => {
  const written: string[] = [];
  const original = console.error;
  console.error = (line: string) => written.push(line);
  try {
    const fields = ['priority', 'retry.maxAttempts'];
    writeTrouble([])({ type: 'definition_differs', taskType: 'known', fields });
  } finally {
    console.error = original;
  }

  expect(written).toEqual([
    "sluice: the definition of 'known' differs from the registered one in priority, " +
      'retry.maxAttempts; register it again, or change it',
  ]);
});
