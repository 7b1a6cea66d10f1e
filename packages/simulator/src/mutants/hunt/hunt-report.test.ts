import { expect, test } from 'vitest';
import type { Hunt } from './hunt.ts';
import { exitCodeOf, reportHunt, reportHunts } from './hunt-report.ts';

const mutant = { name: 'some-bug', file: 'core/src/partition.ts', find: '', replace: '', what: '' };
const catchOf = { seed: 1, mode: 'safety', rule: 'I29', message: 'not durable' } as const;
const hunted = (cpuMs: number): Hunt => ({ mutant, catch: catchOf, seeds: 3, cpuMs });
const missed: Hunt = { mutant, seeds: 900, cpuMs: 600_000 };

test('a bug that was caught is reported with its rule and what that cost', () => {
  expect(reportHunt(hunted(1234))).toMatch(/^some-bug +I29 +3 +1\.2$/);
});

test('a bug that was not caught is reported as such, and the command fails', () => {
  expect(reportHunt(missed)).toMatch(/^some-bug +NOT CAUGHT +900 +600\.0$/);
  expect(exitCodeOf([hunted(1), missed])).toBe(1);
});

test('all bugs caught is a success', () => {
  expect(exitCodeOf([hunted(1), hunted(2)])).toBe(0);
});

test('the summary has the median and the worst of those that were caught', () => {
  const summary = reportHunts([hunted(9000), missed, hunted(1000), hunted(2000)]);

  expect(summary).toBe(
    '3 of 4 planted bugs were caught\nCPU seconds: median 2.0, worst 9.0 (some-bug)',
  );
});
