import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

/** Code without its indentation. */
function normal(code: string): string {
  return code
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');
}

const EXAMPLES = readdirSync(join(ROOT, 'examples'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => normal(readFileSync(join(ROOT, 'examples', name), 'utf8')));

function isInExample(block: string): boolean {
  return EXAMPLES.some((example) => example.includes(normal(block)));
}

function blocksOf(page: string): string[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  return [...text.matchAll(/```ts\n(.*?)```/gs)].map(([, block]) => block);
}

test.each([
  ['README.md', 1],
  ['docs/sdk.md', 9],
  ['docs/operators.md', 6],
  ['docs/sdk-workflows.md', 4],
  ['docs/pipeline.md', 7],
  ['docs/callbacks.md', 1],
])('the TypeScript in %s is taken from examples, which compile', (page, count) => {
  const blocks = blocksOf(page);

  expect(blocks).toHaveLength(count);
  expect(blocks.filter((block) => !isInExample(block))).toEqual([]);
});

test('code that is in no example is noticed', () => {
  expect(isInExample('const sluice = new Sluice();')).toBe(true);
  expect(isInExample('const sluice = new Slice();')).toBe(false);
});
