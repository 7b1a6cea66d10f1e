import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EvaluationRequest, EvaluationResult } from '@sluice/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Scripts } from './scripts.ts';

let scripts: Scripts;
let folder: string;
let results: EvaluationResult[];
let hears: () => void = () => undefined;

beforeEach(() => {
  results = [];
  folder = mkdtempSync(join(tmpdir(), 'sluice-scripts-'));
  const report = (found: readonly EvaluationResult[]): void => {
    results.push(...found);
    hears();
  };
  scripts = new Scripts(report, async ({ sha256 }) => join(folder, sha256));
});

afterEach(async () => {
  await scripts.close();
  rmSync(folder, { recursive: true });
});

function ask(
  step: number,
  source: string,
  input = '{}',
  language: EvaluationRequest['language'] = 'javascript',
): void {
  scripts.evaluate([
    { run: 7, step, evaluation: 1, namespace: 'default', language, source, input },
  ]);
}

async function heard(count: number): Promise<void> {
  while (results.length < count) {
    await new Promise<void>((resolve) => {
      hears = resolve;
    });
  }
}

test('scripts are evaluated one after the other, outside of this thread', async () => {
  for (const step of [1, 2]) {
    ask(step, '$.n * 2', `{"n":${step}}`);
  }
  await heard(2);

  expect(results).toEqual([
    { run: 7, step: 1, evaluation: 1, value: '2' },
    { run: 7, step: 2, evaluation: 1, value: '4' },
  ]);
});

test('a script without end costs only itself', async () => {
  ask(1, 'for (;;);');
  ask(2, '1');
  await heard(2);

  expect(results[0]).toMatchObject({ step: 1, message: expect.stringContaining('more than 1 s') });
  expect(results[1]).toMatchObject({ step: 2, value: '1' });
});

test.each([
  'new Array(2 ** 32 - 1).indexOf(1)',
  "const all = []; for (;;) all.push('x'.repeat(1e6));",
])('%s: instructions that take too long cost only their script', async (search) => {
  ask(1, '1');
  ask(2, search);
  ask(3, '3');
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

test.each([
  ['without end', 'last(repeat(1))'],
  ['that gives values without end', 'repeat("a long text")'],
])('a query %s costs only itself', async (_, query) => {
  ask(1, '.n + 1', '{"n":1}', 'jq');
  ask(2, query, '{}', 'jq');
  ask(3, '$.n', '{"n":3}');
  ask(4, '.n', '{"n":4}', 'jq');
  await heard(4);

  const found = results.toSorted((a, b) => a.step - b.step);
  expect(found).toMatchObject([
    { step: 1, value: '[2]' },
    { step: 2, message: expect.any(String) },
    { step: 3, value: '3' },
    { step: 4, value: '[4]' },
  ]);
});

test('the syntax of a query is checked there, and a query is no script', async () => {
  expect(await scripts.check('.a | map(', 'jq')).toContain('syntax error');
  expect(await scripts.check('.a | map(.b)', 'jq')).toBeUndefined();
  expect(await scripts.check('.a | map(.b)')).toContain('SyntaxError');
});

test('when the thread ends, what waits for it is evaluated in a new one', async () => {
  await scripts.check('1');
  const ending = (scripts as unknown as { worker: { terminate(): Promise<number> } }).worker;
  ask(1, '1');
  await ending.terminate();
  await heard(1);

  expect(results).toEqual([{ run: 7, step: 1, evaluation: 1, value: '1' }]);
});

test('values are taken out of the files of blobs', async () => {
  const content = JSON.stringify({ items: [{ name: 'zero' }, { name: 'one' }] });
  const sha256 = createHash('sha256').update(content).digest('hex');
  writeFileSync(join(folder, sha256), content);
  const missing = 'ab'.repeat(32);
  const path = [
    { kind: 'name', name: 'items' },
    { kind: 'index', index: 1 },
  ];
  const keys = [sha256, missing].map((blob) => JSON.stringify([blob, path, false]));

  ask(1, '', JSON.stringify(keys), 'extract');
  await heard(1);

  const [{ values }] = results;
  expect(values).toMatchObject([
    { key: keys[0], value: '{"name":"one"}' },
    { key: keys[1], problem: { code: 'bad_value' } },
  ]);
});

test('a blob whose file was damaged gives no values', async () => {
  const sha256 = 'cd'.repeat(32);
  writeFileSync(join(folder, sha256), '{"a":1}');

  ask(1, '', JSON.stringify([JSON.stringify([sha256, [], false])]), 'extract');
  await heard(1);

  expect(results[0].values?.[0].problem?.message).toContain('damaged');
});

test('a query that traps costs only itself: the next one has a sound instance', async () => {
  ask(1, 'def f: 1 + f; f', '{}', 'jq');
  ask(2, '[range(50000000)]', '{}', 'jq');
  ask(3, '.n', '{"n":4}', 'jq');
  await heard(3);

  const inOrder = results.toSorted((one, other) => one.step - other.step);
  expect(inOrder).toMatchObject([
    { message: expect.stringContaining('64 MiB') },
    { message: expect.stringContaining('64 MiB') },
    { value: '[4]' },
  ]);
});
