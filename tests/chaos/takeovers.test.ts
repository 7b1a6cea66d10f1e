import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const PROGRAM = fileURLToPath(new URL('./takeover-rounds.ts', import.meta.url));

test('owners that are killed, frozen, stopped, or lose their database lose no task', async () => {
  const args = [PROGRAM, '--rounds', '5', '--only', 'kill,freeze,terminate,database,kill-all'];
  const { stdout } = await promisify(execFile)(process.execPath, args);

  expect(stdout).toContain('\n0 violations\n');
  expect(stdout).toMatch(/^[1-9]\d{2,} tasks acknowledged$/m);
});
