/**
 * All checks and tests, for `npm test`.
 *
 * A stage that fails does not stop the later ones. A few failed test files run once more by
 * themselves, because a starved machine can fail tests with real processes and a real clock; the
 * output names those that passed only then. Where no container engine can be started, the tests
 * that need one do not run, and the output says so, and how many they are. The last line is always
 * `N passed, N failed`, and the exit code is 0 only if nothing failed and at least one test ran.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { probeEngines } from '../tests/support/engine-probe.ts';
import { installSystemPackages } from './system-packages.ts';
import {
  countRun,
  failedTests,
  filesToRepeat,
  formatCounts,
  notRunText,
  replaceFiles,
  type StageResult,
  type VitestReport,
} from './test-summary.ts';

interface Stage {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
}

const ROOT = path.resolve(import.meta.dirname, '..');
const BIN = path.join(ROOT, 'node_modules', '.bin');

const STAGES: readonly Stage[] = [
  { name: 'biome', command: 'biome', args: ['check', '--error-on-warnings'] },
  { name: 'knip', command: 'knip', args: [] },
  { name: 'tsc core', command: 'tsc', args: ['-p', 'packages/core'] },
  { name: 'tsc sdk', command: 'tsc', args: ['-p', 'packages/sdk'] },
  { name: 'tsc console', command: 'tsc', args: ['-p', 'packages/console'] },
  { name: 'tsc', command: 'tsc', args: ['-p', '.'] },
  { name: 'console', command: 'node', args: ['scripts/build-console.ts'] },
  { name: 'bundle', command: 'node', args: ['scripts/build-bundle.ts'] },
];

const { PATH = '' } = process.env;

function runStage({ name, command, args }: Stage): StageResult {
  console.log(`\n> ${name}`);
  const startedAt = performance.now();

  const child = spawnSync(command, args, {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
    // The tools are scripts for `env node`, which must find the pinned Node.
    env: { ...process.env, PATH: `${BIN}${path.delimiter}${PATH}` },
  });

  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const passed = child.status === 0;
  if (child.error !== undefined) console.log(`cannot run ${command}: ${child.error.message}`);
  console.log(`${passed ? 'ok' : 'FAILED'}: ${name} (${seconds} s)`);
  return { name, passed };
}

interface VitestRun {
  readonly report: VitestReport | undefined;
  readonly vitestPassed: boolean;
}

function runTests(): VitestRun {
  const first = runVitest('vitest', []);
  const files = first.report === undefined ? [] : filesToRepeat(first.report);
  if (first.report === undefined || files.length === 0) return first;

  const second = runVitest('vitest, failed files again', files);
  if (second.report === undefined) return first;
  const stillFailed = failedTests(second.report);
  const passedLate = failedTests(first.report).filter((name) => !stillFailed.includes(name));
  console.log('\nPassed only when their files ran again:');
  for (const name of passedLate) console.log(`  ${name}`);
  const report = replaceFiles(first.report, second.report);
  return { report, vitestPassed: second.vitestPassed };
}

function runVitest(name: string, files: readonly string[]): VitestRun {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-test-'));
  const reportPath = path.join(folder, 'vitest.json');
  try {
    const reporters = ['--reporter=default', '--reporter=json'];
    const args = ['run', ...files, ...reporters, `--outputFile.json=${reportPath}`];
    const { passed } = runStage({ name, command: 'vitest', args });
    return { report: readReport(reportPath), vitestPassed: passed };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readReport(reportPath: string): VitestReport | undefined {
  try {
    return JSON.parse(readFileSync(reportPath, 'utf8')) as VitestReport;
  } catch (error) {
    console.log(`cannot read the report of vitest: ${(error as Error).message}`);
    return undefined;
  }
}

const hasPackages = installSystemPackages();
if (!hasPackages) console.log('FAILED: system packages');
const stages = [
  { name: 'system packages', passed: hasPackages },
  ...STAGES.map((stage) => runStage(stage)),
];
const withoutEngines = await probeEngines();
const counts = countRun({ stages, ...runTests() });

process.exitCode = counts.failed === 0 ? 0 : 1;
if (withoutEngines.length > 0) console.log(`\n${notRunText(counts, withoutEngines.join('\n'))}`);
console.log(`\n${formatCounts(counts)}`);
