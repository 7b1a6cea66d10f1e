import { expect, test } from 'vitest';
import type { ErrorDetail } from '../base/sluice-error.ts';
import type { TaskDefinition } from '../schemas/task-schemas.ts';
import { checkDefinition } from './task-rules.ts';

const RULES = { hasThreeDecimals: () => true, parseConstraint: () => ({}) };

function problemsOf(definition: TaskDefinition): ErrorDetail[] {
  const problems: ErrorDetail[] = [];
  checkDefinition(definition, '', problems, RULES);
  return problems;
}

test('a delay above the longest one is refused, and both are named', () => {
  expect(problemsOf({ retry: { delayMs: 5000, maxDelayMs: 1000 } })).toEqual([
    {
      path: '/retry/delayMs',
      problem: 'is 5000 and cannot be more than maxDelayMs, which is 1000',
    },
  ]);
});

test.each([{ delayMs: 120_000 }, { maxDelayMs: 10 }, { delayMs: 10, maxDelayMs: 10 }])(
  '%o is a policy',
  (retry) => {
    expect(problemsOf({ retry })).toEqual([]);
  },
);
