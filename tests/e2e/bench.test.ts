import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

function bench(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const program = join(ROOT, 'bench/peers/main.ts');
  return spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' });
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

test('--help names everything that can be chosen', () => {
  const { status, stdout } = bench('--help');
  expect(status).toBe(0);
  expect(stdout).toContain('graphile-worker');
  expect(stdout).toContain('latency-2000');
});
