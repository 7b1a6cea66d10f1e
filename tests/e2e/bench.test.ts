import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { areRunning, descendantsOf } from '../../bench/peers/usage.ts';

const ROOT = join(import.meta.dirname, '../..');

const PROGRAM = join(ROOT, 'bench/peers/main.ts');

function bench(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [PROGRAM, ...args], { encoding: 'utf8' });
}

test('one work of one contender gives one document', { timeout: 60_000 }, () => {
  const { stdout, stderr } = bench('--quick', '--json', '--only', 'sluice,submit-single,recovery');
  const { results } = JSON.parse(stdout) as { results: { median: number }[] };
  expect(results, stderr).toMatchObject([
    { contender: 'sluice', work: 'submit-single', metric: 'perSecond', unit: 'tasks/s' },
    { contender: 'sluice', work: 'recovery', metric: 'lost', median: 0 },
    { contender: 'sluice', work: 'recovery', metric: 'doubled', median: 0 },
  ]);
  expect(results[0].median).toBeGreaterThan(0);
});

test('a name that does not exist is refused', () => {
  const { status, stderr } = bench('--only', 'redis');
  expect(status).toBe(2);
  expect(stderr).toContain("there is no contender or work 'redis'");
});

test('an option that does not exist, and a number that is none, are refused', () => {
  expect(bench('--fast')).toMatchObject({ status: 2, stderr: expect.stringContaining('--fast') });
  const { status, stderr } = bench('--runs', 'many');
  expect([status, stderr]).toEqual([2, 'bench: --runs takes a number from 1 on; see --help\n']);
});

test.each([
  ['core', 'restart-snapshot'],
  ['records', 'search'],
  ['server', 'idle'],
  ['path', 'latency-2000'],
])('bench:%s has help that names its rows', (name, row) => {
  const args = [join(ROOT, `bench/${name}/main.ts`), '--help'];
  const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect(status).toBe(0);
  expect(stdout).toContain(`npm run bench:${name}`);
  expect(stdout).toContain(row);
});

test('a row that does not exist is refused', () => {
  const args = [join(ROOT, 'bench/core/main.ts'), '--only', 'folding'];
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect([status, stderr]).toEqual([2, "bench: no row begins with 'folding'; see --help\n"]);
});

test('--help names everything that can be chosen', () => {
  const { status, stdout } = bench('--help');
  expect(status).toBe(0);
  expect(stdout).toContain('graphile-worker');
  expect(stdout).toContain('latency-2000');
});

test('whoever ends it ends its servers with it', { timeout: 60_000 }, async () => {
  const args = [PROGRAM, '--json', '--only', 'sluice,idle'];
  const child = spawn(process.execPath, args, { stdio: 'ignore' });
  const exited = once(child, 'exit');
  // The server, the client and the worker.
  const started = await vi.waitFor(
    async () => {
      const pids = await descendantsOf(child.pid as number);
      expect(pids.length).toBeGreaterThanOrEqual(4);
      return pids;
    },
    { timeout: 30_000, interval: 100 },
  );
  child.kill('SIGTERM');

  expect((await exited)[0]).toBe(143);
  // The server is a grandchild: ended, it stays in /proc until the first process has waited for it.
  expect(await areRunning(started)).toBe(false);
});
