/**
 * All checks and tests, for `npm test`.
 *
 * A stage that fails does not stop the later ones. The last line is always `N passed, N failed`,
 * and the exit code is 0 only if nothing failed and at least one test ran.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { installSystemPackages } from './system-packages.ts';
import { countRun, formatCounts, type StageResult, type VitestReport } from './test-summary.ts';

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
  { name: 'tsc', command: 'tsc', args: ['-p', '.'] },
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

function runVitest(): { report: VitestReport | undefined; vitestPassed: boolean } {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-test-'));
  const reportPath = path.join(folder, 'vitest.json');
  try {
    const reporters = ['--reporter=default', '--reporter=json'];
    const args = ['run', ...reporters, `--outputFile.json=${reportPath}`];
    const { passed } = runStage({ name: 'vitest', command: 'vitest', args });
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
const counts = countRun({ stages, ...runVitest() });

process.exitCode = counts.failed === 0 ? 0 : 1;
console.log(`\n${formatCounts(counts)}`);
