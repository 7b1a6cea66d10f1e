import { expect, test } from 'vitest';
import type { AttemptLines } from './log-file.ts';
import { newestLines } from './newest-lines.ts';

/** One file per attempt, each with these lines. */
async function* files(...attempts: readonly string[][]): AsyncGenerator<AttemptLines[]> {
  for (const [index, lines] of attempts.entries()) {
    yield [{ id: 't_1', attempt: index + 1, lease: index + 1, seq: 1, at: 1000, lines }];
  }
}

async function texts(limit: number, charactersMax: number): Promise<string[]> {
  const lines = await newestLines(files(['aa', 'bb'], [], ['cc', 'dd']), limit, charactersMax);
  return lines.map(({ attempt, line }) => `${attempt} ${line}`);
}

test('the last lines are kept, over all attempts', async () => {
  expect(await texts(10, 100)).toEqual(['1 aa', '1 bb', '3 cc', '3 dd']);
  expect(await texts(3, 100)).toEqual(['1 bb', '3 cc', '3 dd']);
  expect(await texts(1, 100)).toEqual(['3 dd']);
});

test('what is too much is left out, the oldest first, but never the last line', async () => {
  expect(await texts(10, 5)).toEqual(['1 bb', '3 cc', '3 dd']);
  expect(await texts(10, 4)).toEqual(['3 cc', '3 dd']);
  expect(await texts(10, 0)).toEqual(['3 dd']);
});
