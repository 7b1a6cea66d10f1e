/**
 * Compares `@sluice/sdk/testing` with the server: it must refuse the same tasks without that code.
 */
import { type ErrorDetail, TaskRequest } from '@sluice/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TaskBody } from '../packages/sdk/src/task/define-task.ts';
import { taskSpecs } from '../packages/sdk/src/test-sluice/server/checked-requests.ts';
import { TaskRequestParser } from '../packages/server/src/tasks/task-request.ts';
import { valuesOf } from './support/schema-arbitrary.ts';

const parser = new TaskRequestParser();

function pathsOf(details: readonly ErrorDetail[]): string[] {
  return [...new Set(details.map(({ path }) => path))].sort();
}

function refusedByServer(body: object): string[] {
  const problems: ErrorDetail[] = [];
  parser.check(body, '/0', problems);
  return pathsOf(problems);
}

function refusedInTests(body: object): string[] {
  try {
    taskSpecs([body as TaskBody], 0);
    return [];
  } catch (cause) {
    return pathsOf((cause as { details: ErrorDetail[] }).details);
  }
}

const many = (count: number): Record<string, string> => {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 'v']));
};

test.each([
  [{ type: 'a', priority: 9 }, '/0/priority'],
  [{ type: 'a', priority: 1.5 }, '/0/priority'],
  [{ type: 'a b' }, '/0/type'],
  [{ type: 'command' }, '/0/type'],
  [{ type: 'a'.repeat(129) }, '/0/type'],
  [{}, '/0/type'],
  [{ type: 'a', tpye: 'b' }, '/0/tpye'],
  [{ type: 'a', 'a/b~c': 1 }, '/0/a~1b~0c'],
  [{ type: 'a', delayMs: 367 * 86_400_000 }, '/0/delayMs'],
  [{ type: 'a', delayMs: 1, runAt: 1 }, '/0/delayMs'],
  [{ type: 'a', runAt: '2030-01-01' }, '/0/runAt'],
  [{ type: 'a', runAt: true }, '/0/runAt'],
  [{ type: 'a', runAt: { toString: false } }, '/0/runAt'],
  [{ type: 'a', tags: many(33) }, '/0/tags'],
  [{ type: 'a', tags: { ['n'.repeat(129)]: 'v' } }, `/0/tags/${'n'.repeat(129)}`],
  [{ type: 'a', tags: { n: '😀'.repeat(257) } }, '/0/tags/n'],
  [{ type: 'a', tags: { n: 1 } }, '/0/tags/n'],
  [{ type: 'a', dedupeKey: '' }, '/0/dedupeKey'],
  [{ type: 'a', dedupeKey: 'k'.repeat(257) }, '/0/dedupeKey'],
  [{ type: 'a', dedupeWindowMs: 5000 }, '/0/dedupeWindowMs'],
  [{ type: 'a', dedupeKey: 'k', dedupeWindowMs: 5 }, '/0/dedupeWindowMs'],
  [{ type: 'a', parentId: 'nobody' }, '/0/parentId'],
  [{ type: 'a', retry: { maxAttempts: 0 } }, '/0/retry/maxAttempts'],
  [{ type: 'a', retry: { backoff: 'random' } }, '/0/retry/backoff'],
  [{ type: 'a', retry: { delaysMs: [] } }, '/0/retry/delaysMs'],
  [{ type: 'a', retry: { delaysMs: [1], delayMs: 1 } }, '/0/retry/delayMs'],
  [{ type: 'a', timeouts: { runMs: 0 } }, '/0/timeouts/runMs'],
  [{ type: 'a', resources: { cpu: 0.1234 } }, '/0/resources/cpu'],
  [{ type: 'a', resources: { slots: 0 } }, '/0/resources/slots'],
  [{ type: 'a', resources: { custom: { 'a b': 1 } } }, '/0/resources/custom/a b'],
  [{ type: 'a', constraints: ['zone = eu'] }, '/0/constraints/0'],
  [{ type: 'a', constraints: Array(33).fill('exists a') }, '/0/constraints'],
  [{ type: 'a', callback: { url: 'ftp://x', on: ['failed'] } }, '/0/callback/url'],
  [{ type: 'a', callback: { url: 'http://x', on: ['lost'] } }, '/0/callback/on/0'],
])('both refuse %j', (body, path) => {
  expect(refusedByServer(body)).toEqual([path]);
  expect(refusedInTests(body)).toEqual([path]);
});

test('both refuse the same fields of any task', () => {
  let refused = 0;
  fc.assert(
    fc.property(valuesOf(withoutExec(TaskRequest)), (value) => {
      fc.pre(typeof value === 'object' && value !== null && !Array.isArray(value));
      const body: object = JSON.parse(JSON.stringify(value));
      const paths = refusedByServer(body);
      if (paths.length > 0) refused += 1;
      const ours = refusedInTests(body);

      // The server reports only a limited number of problems.
      expect(ours).toEqual(expect.arrayContaining(paths));
      expect(ours.length > 0).toBe(paths.length > 0);
    }),
    { numRuns: 2000 },
  );
  expect(refused).toBeGreaterThan(100);
});

/** A `TestSluice` runs no commands. */
function withoutExec({ properties, ...rest }: typeof TaskRequest): object {
  const { exec: _, ...others } = properties;
  return { ...rest, properties: others };
}
