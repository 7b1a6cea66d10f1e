import { expect, test } from 'vitest';
import { type Route, repeatability } from '../base/route.ts';
import { ROUTES } from './routes.ts';

const CHANGES = Object.entries<Route>(ROUTES).filter(([, { method }]) => method !== 'GET');

function changesThat(wanted: ReturnType<typeof repeatability>): string[] {
  return CHANGES.filter(([, route]) => repeatability(route) === wanted).map(([name]) => name);
}

test('reads, reports, logins and PUT may be repeated', () => {
  const expected = [
    'getTasks',
    'waitForTasks',
    'reportAttempts',
    'putBlob',
    'putTaskType',
    'putWorkflowVersion',
    'putSchedule',
    'logIn',
    'logOut',
  ];

  expect(changesThat('always').toSorted()).toEqual(expected.toSorted());
});

test('submits and starts may be repeated when every item has a dedupe key', () => {
  expect(changesThat('if_deduped')).toEqual(['submitTasks', 'startRuns']);
});

test('every other change could take effect twice, or its second answer could be wrong', () => {
  expect(changesThat('never').toSorted()).toMatchInlineSnapshot(`
    [
      "backfillSchedule",
      "cancelRun",
      "cancelTask",
      "cancelTasks",
      "changeSchedules",
      "closeWorkerSession",
      "completeRunStep",
      "completeTask",
      "createKey",
      "deleteSchedule",
      "deleteTaskType",
      "deleteWorkflowVersion",
      "discardDeadLetters",
      "drainWorker",
      "endRedrive",
      "failRunStep",
      "failTask",
      "openWorkerSession",
      "patchQueue",
      "patchSchedule",
      "patchTask",
      "patchTasks",
      "pauseRun",
      "pauseSchedule",
      "pauseTask",
      "redeliverCallbacks",
      "rerunRun",
      "restartRun",
      "resumeRun",
      "resumeSchedule",
      "resumeTask",
      "retryRun",
      "retryTask",
      "retryTasks",
      "revokeKey",
      "signalTask",
      "skipRunStep",
      "startRedrive",
      "stopBackfill",
      "triggerSchedule",
    ]
  `);
});

test('reads need not say that they may be repeated', () => {
  const reads = Object.values<Route>(ROUTES).filter(({ method }) => method === 'GET');

  expect(reads.filter(({ repeatable }) => repeatable !== undefined)).toEqual([]);
  expect(reads.every((route) => repeatability(route) === 'always')).toBe(true);
});
