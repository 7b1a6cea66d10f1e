import { expect, test } from 'vitest';
import {
  countRun,
  failedTests,
  filesToRepeat,
  formatCounts,
  notRunText,
  replaceFiles,
  type VitestReport,
} from '../scripts/test-summary.ts';

test('tests and stages are added up', () => {
  const counts = countRun({
    stages: [
      { name: 'biome', passed: true },
      { name: 'knip', passed: false },
    ],
    report: reportOf(['passed', 'passed'], ['passed', 'failed']),
    vitestPassed: false,
  });

  expect(counts).toEqual({ passed: 4, failed: 2, skipped: 0 });
});

test('tests that were left out are counted apart', () => {
  const report = reportOf(['passed', 'skipped', 'todo']);

  const counts = countRun({ stages: [], report, vitestPassed: true });

  expect(counts).toEqual({ passed: 1, failed: 0, skipped: 2 });
});

test('a machine without a container engine is told what did not run, and why', () => {
  const text = notRunText({ skipped: 21 }, 'it did not start:\nno root');

  expect(text).toMatch(/^NOT RUN: 21 tests\..*\n {2}it did not start:\n {2}no root$/);
});

test('a test that never ended has failed', () => {
  const report = reportOf(['passed', 'pending']);

  const counts = countRun({ stages: [], report, vitestPassed: true });

  expect(counts).toEqual({ passed: 1, failed: 1, skipped: 0 });
});

test('a file that fails to load is a failure, although it has no failed test', () => {
  const report: VitestReport = {
    testResults: [
      { name: 'a', status: 'failed', assertionResults: [] },
      { name: 'b', status: 'passed', assertionResults: [{ status: 'passed', fullName: 'b1' }] },
    ],
  };

  const counts = countRun({ stages: [], report, vitestPassed: false });

  expect(counts).toEqual({ passed: 1, failed: 1, skipped: 0 });
});

test('an error outside of any test is a failure', () => {
  const counts = countRun({ stages: [], report: reportOf(['passed']), vitestPassed: false });

  expect(counts).toEqual({ passed: 1, failed: 1, skipped: 0 });
});

test('a run of nothing is a failure', () => {
  const stages = [{ name: 'biome', passed: true }];

  const counts = countRun({ stages, report: reportOf(['skipped']), vitestPassed: true });

  expect(counts).toEqual({ passed: 1, failed: 1, skipped: 1 });
});

test('a missing report is a failure, whatever the exit code', () => {
  const counts = countRun({ stages: [], report: undefined, vitestPassed: true });

  expect(counts).toEqual({ passed: 0, failed: 1, skipped: 0 });
});

test('the last line names the skipped tests only if there are any', () => {
  expect(formatCounts({ passed: 12, failed: 0, skipped: 0 })).toBe('12 passed, 0 failed');
  expect(formatCounts({ passed: 3, failed: 1, skipped: 2 })).toBe('3 passed, 1 failed, 2 skipped');
});

test('failed files run once more', () => {
  const report = reportOf(['passed'], ['failed', 'passed'], ['failed']);

  expect(filesToRepeat(report)).toEqual([
    '/project/tests/e2e/1.test.ts',
    '/project/tests/e2e/2.test.ts',
  ]);
  expect(failedTests(report)).toEqual(['test 1.0', 'test 2.0']);
});

test('nothing runs again after many failures', () => {
  expect(filesToRepeat(reportOf(...Array(4).fill(['failed'])))).toEqual([]);
});

test('a file that ran again counts once, as it ended then', () => {
  const first = reportOf(['passed'], ['failed', 'passed']);
  const second: VitestReport = {
    testResults: reportOf([], ['passed', 'passed']).testResults.slice(1),
  };

  const report = replaceFiles(first, second);

  const counts = countRun({ stages: [], report, vitestPassed: true });
  expect(counts).toEqual({ passed: 3, failed: 0, skipped: 0 });
});

function reportOf(...files: string[][]): VitestReport {
  return {
    testResults: files.map((statuses, index) => ({
      name: `/project/tests/e2e/${index}.test.ts`,
      status: statuses.includes('failed') ? 'failed' : 'passed',
      assertionResults: statuses.map((status, place) => ({
        status,
        fullName: `test ${index}.${place}`,
      })),
    })),
  };
}
