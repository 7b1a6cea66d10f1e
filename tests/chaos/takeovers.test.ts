import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test('owners that are killed, frozen, stopped, or lose their database lose no task', async () => {
  const only = 'kill,kill-standby,freeze,terminate,hand-off,database,kill-all';
  const said = await run('./takeover-rounds.ts', '--rounds', '7', '--only', only);

  expect(said).toContain('\n0 violations\n');
  expect(said).toMatch(/^[1-9]\d{2,} tasks acknowledged$/m);
});

test('an owner whose network is cut, in one direction or both, loses no task', async () => {
  const only = 'gone,from-database';
  const said = await run('./network-cut-rounds.ts', '--rounds', '2', '--only', only);

  expect(said).toContain('\n0 violations\n');
  expect(said).toMatch(/^[1-9]\d+ tasks acknowledged$/m);
});

test('an owner that a proxy cuts off from its database loses no task and no client', async () => {
  const only = 'proxy-both,proxy-answers,proxy-statements,proxy-reset';
  const said = await run('./takeover-rounds.ts', '--rounds', '4', '--only', only);

  expect(said).toContain('\n0 violations\n');
  expect(said).toMatch(/^[1-9]\d+ tasks acknowledged$/m);
});

/** What the program prints. */
async function run(program: string, ...args: readonly string[]): Promise<string> {
  const path = fileURLToPath(new URL(program, import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [path, ...args]);
  return stdout;
}
