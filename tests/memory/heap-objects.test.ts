import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

interface Counted {
  readonly before: number;
  readonly after: number;
}

const OBJECTS_MAX = 50_000;

async function count(...flags: string[]): Promise<Counted> {
  const program = join(import.meta.dirname, 'count-heap-objects.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...flags]);
  console.log(stdout.trim());
  return JSON.parse(stdout) as Counted;
}

test('a million queued tasks add fewer than 50,000 objects to the heap', async () => {
  const { before, after } = await count();

  expect(after - before).toBeLessThan(OBJECTS_MAX);
});

test('an object per ten tasks would be noticed', async () => {
  const { before, after } = await count('--plant');

  expect(after - before).toBeGreaterThan(OBJECTS_MAX);
});
