import type { EvaluationResult } from '@sluice/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Scripts } from './scripts.ts';

let scripts: Scripts;
let results: EvaluationResult[];
let hears: () => void = () => undefined;

beforeEach(() => {
  results = [];
  scripts = new Scripts((found) => {
    results.push(...found);
    hears();
  });
});

afterEach(() => scripts.close());

async function heard(count: number): Promise<void> {
  while (results.length < count) {
    await new Promise<void>((resolve) => {
      hears = resolve;
    });
  }
}

test('scripts are evaluated one after the other, outside of this thread', async () => {
  for (const step of [1, 2]) {
    scripts.evaluate([{ run: 7, step, evaluation: 1, source: '$.n * 2', input: `{"n":${step}}` }]);
  }
  await heard(2);

  expect(results).toEqual([
    { run: 7, step: 1, evaluation: 1, value: '2' },
    { run: 7, step: 2, evaluation: 1, value: '4' },
  ]);
});

test('a script without end costs only itself', async () => {
  scripts.evaluate([{ run: 7, step: 1, evaluation: 1, source: 'for (;;);', input: '{}' }]);
  scripts.evaluate([{ run: 7, step: 2, evaluation: 1, source: '1', input: '{}' }]);
  await heard(2);

  expect(results[0]).toMatchObject({ step: 1, message: expect.stringContaining('more than 1 s') });
  expect(results[1]).toMatchObject({ step: 2, value: '1' });
});

test('one instruction that takes too long costs only its script', async () => {
  const search = 'new Array(2 ** 32 - 1).indexOf(1)';
  scripts.evaluate([{ run: 7, step: 1, evaluation: 1, source: '1', input: '{}' }]);
  scripts.evaluate([{ run: 7, step: 2, evaluation: 1, source: search, input: '{}' }]);
  scripts.evaluate([{ run: 7, step: 3, evaluation: 1, source: '3', input: '{}' }]);
  await heard(3);

  expect(results).toEqual([
    { run: 7, step: 1, evaluation: 1, value: '1' },
    {
      run: 7,
      step: 2,
      evaluation: 1,
      message: 'the script failed: it ran for more than 1 s',
    },
    { run: 7, step: 3, evaluation: 1, value: '3' },
  ]);
});

test('the syntax of a script is checked there, too', async () => {
  expect(await scripts.check('1 +')).toContain('SyntaxError');
  expect(await scripts.check('1 + 1')).toBeUndefined();
});

test('when the thread ends, what waits for it is evaluated in a new one', async () => {
  await scripts.check('1');
  const ending = (scripts as unknown as { worker: { terminate(): Promise<number> } }).worker;
  scripts.evaluate([{ run: 7, step: 1, evaluation: 1, source: '1', input: '{}' }]);
  await ending.terminate();
  await heard(1);

  expect(results).toEqual([{ run: 7, step: 1, evaluation: 1, value: '1' }]);
});
