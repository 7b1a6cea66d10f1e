/** Adds up what `npm test` ran: the stages before vitest count as one test each. */

export interface StageResult {
  readonly name: string;
  readonly passed: boolean;
}

/** The part of vitest's JSON report that is counted. */
export interface VitestReport {
  readonly testResults: readonly {
    /** The path of the file. */
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/** More failed files than this are no chance. */
const REPEATED_FILES_MAX = 3;

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

interface TestRun {
  readonly stages: readonly StageResult[];
  /** Absent when vitest wrote no readable report. */
  readonly report: VitestReport | undefined;
  /** Whether vitest ended with exit code 0. */
  readonly vitestPassed: boolean;
}

export function countRun(run: TestRun): Counts {
  const vitest = countVitest(run.report, run.vitestPassed);
  const stagesPassed = run.stages.filter((stage) => stage.passed).length;
  return {
    passed: vitest.passed + stagesPassed,
    failed: vitest.failed + run.stages.length - stagesPassed,
    skipped: vitest.skipped,
  };
}

/** The files to run once more: what fails for another reason than chance fails again. */
export function filesToRepeat({ testResults }: VitestReport): string[] {
  const files = testResults.filter(({ status }) => status === 'failed').map(({ name }) => name);
  return files.length > REPEATED_FILES_MAX ? [] : files;
}

/** Names of the tests that failed, and of the files that failed as a whole. */
export function failedTests({ testResults }: VitestReport): string[] {
  return testResults.flatMap((file) => {
    if (isBroken(file)) return [file.name];
    const failed = file.assertionResults.filter(({ status }) => status === 'failed');
    return failed.map(({ fullName }) => fullName);
  });
}

/** The first report, with the files that ran again as they ended then. */
export function replaceFiles(first: VitestReport, second: VitestReport): VitestReport {
  const again = new Set(second.testResults.map(({ name }) => name));
  const others = first.testResults.filter(({ name }) => !again.has(name));
  return { testResults: [...others, ...second.testResults] };
}

export function formatCounts({ passed, failed, skipped }: Counts): string {
  const line = `${passed} passed, ${failed} failed`;
  return skipped === 0 ? line : `${line}, ${skipped} skipped`;
}

/** What a machine without a container engine leaves unproven. */
export function notRunText({ skipped }: Pick<Counts, 'skipped'>, problem: string): string {
  const line = `NOT RUN: ${skipped} tests. Some need a container engine that does not start:`;
  return [line, ...problem.split('\n').map((each) => `  ${each}`)].join('\n');
}

function countVitest(report: VitestReport | undefined, vitestPassed: boolean): Counts {
  const files = report?.testResults ?? [];
  const statuses = files.flatMap((file) => file.assertionResults.map(({ status }) => status));
  const passed = statuses.filter((status) => status === 'passed').length;
  const skipped = statuses.filter((status) => status === 'skipped' || status === 'todo').length;
  // A file that fails to load has no failed test, and a test that never ended has no result.
  const brokenFiles = files.filter(isBroken).length;
  const failed = statuses.length - passed - skipped + brokenFiles;

  // An error outside of any test, or a run of nothing at all, must not look like success.
  const failedUnseen = failed === 0 && (!vitestPassed || passed === 0) ? 1 : 0;
  return { passed, failed: failed + failedUnseen, skipped };
}

function isBroken(file: VitestReport['testResults'][number]): boolean {
  return (
    file.status === 'failed' && file.assertionResults.every(({ status }) => status !== 'failed')
  );
}
