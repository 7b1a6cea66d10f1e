import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const PROGRAM = fileURLToPath(new URL('./bounded-disk.ts', import.meta.url));
const SHORT = ['--minutes', '5', '--trims', '4', '--fold-mib', '4', '--tasks-per-second', '600'];

/** Far less than the run writes. */
const TOO_LITTLE = ['--minutes', '0.1', '--fold-mib', '1000'];

function run(args: readonly string[]): Promise<{ readonly stdout: string }> {
  return promisify(execFile)(process.execPath, [PROGRAM, ...args]);
}

test('the data folder stays within its bound under a steady load', async () => {
  const { stdout } = await run(SHORT);

  expect(stdout).toMatch(/ snapshots, 4 trims\n/);
  expect(stdout).toMatch(/\n2 snapshots are kept\nok\n$/);
});

test('a log that is never folded is noticed', async () => {
  await expect(run(TOO_LITTLE)).rejects.toMatchObject({
    stdout: expect.stringMatching(/ 0 snapshots, 0 trims\n(.*\n)*FAILED\n$/),
  });
});
