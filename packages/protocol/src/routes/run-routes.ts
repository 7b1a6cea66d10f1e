import { Type } from 'typebox';
import { CHANGE_ERRORS, READ_ERRORS, type Route } from '../base/route.ts';
import {
  CompleteStepRequest,
  FailStepRequest,
  RerunRequest,
  RunDefinition,
  RunExplanation,
  RunHistory,
  RunListQuery,
  RunPage,
  RunParams,
  RunRequest,
  RunRequests,
  RunStepParams,
  RunView,
  StartedRun,
  StartedRuns,
  StartQuery,
  StepPage,
} from '../schemas/run-schemas.ts';
import { ListQuery } from '../schemas/task-operation-schemas.ts';
import { WaitQuery } from '../schemas/task-schemas.ts';

const RUN_OPERATION = {
  method: 'POST',
  access: 'operate',
  params: RunParams,
  answers: { 200: RunView },
  errors: [...CHANGE_ERRORS, 'run_not_found', 'run_finished'],
} as const;

const STEP_OPERATION = {
  ...RUN_OPERATION,
  params: RunStepParams,
  errors: [...RUN_OPERATION.errors, 'step_not_found', 'step_not_waiting', 'overloaded'],
} as const;

/** Lets a run that ended go on. */
const RUN_REVIVAL = {
  ...RUN_OPERATION,
  errors: [...RUN_OPERATION.errors, 'run_not_finished', 'run_not_kept', 'overloaded'],
} as const;

/** Calls about runs of workflows. */
export const RUN_ROUTES = {
  startRuns: {
    method: 'POST',
    path: '/v1/runs',
    repeatable: 'if_deduped',
    access: 'submit',
    summary: 'Start one run, or an array of up to 1,000: all or nothing',
    query: StartQuery,
    body: Type.Union([RunRequest, RunRequests]),
    answers: {
      200: Type.Union([StartedRun, RunView]),
      201: Type.Union([StartedRun, StartedRuns, RunView]),
    },
    errors: [
      ...CHANGE_ERRORS,
      'invalid_definition',
      'workflow_not_found',
      'dedupe_mismatch',
      'too_many_workflows',
      'disk_full',
    ],
  },
  listRuns: {
    method: 'GET',
    path: '/v1/runs',
    access: 'read',
    summary: 'Search runs, newest first',
    description:
      'Filter by a tag with tag.NAME=VALUE. A page of very large runs ends early, with a cursor.',
    query: RunListQuery,
    answers: { 200: RunPage },
    errors: READ_ERRORS,
  },
  getRun: {
    method: 'GET',
    path: '/v1/runs/{id}',
    access: 'read',
    summary: 'Read one run with its steps',
    params: RunParams,
    answers: { 200: RunView },
    errors: [...READ_ERRORS, 'run_not_found'],
  },
  getRunHistory: {
    method: 'GET',
    path: '/v1/runs/{id}/history',
    access: 'read',
    summary: 'List every change of a run, and when each step began and ended',
    params: RunParams,
    answers: { 200: RunHistory },
    errors: [...READ_ERRORS, 'run_not_found'],
  },
  explainRun: {
    method: 'GET',
    path: '/v1/runs/{id}/explain',
    access: 'read',
    summary: 'Explain what a run waits for, down to its tasks and their workers',
    params: RunParams,
    answers: { 200: RunExplanation },
    errors: [...READ_ERRORS, 'run_not_found'],
  },
  getRunDefinition: {
    method: 'GET',
    path: '/v1/runs/{id}/definition',
    access: 'read',
    summary: 'Read the definition that a run follows',
    description:
      'Also one that came with the run, as long as the run is in memory; a registered one as ' +
      'long as it is registered.',
    params: RunParams,
    answers: { 200: RunDefinition },
    errors: [...READ_ERRORS, 'run_not_found', 'workflow_not_found'],
  },
  listRunSteps: {
    method: 'GET',
    path: '/v1/runs/{id}/steps',
    access: 'read',
    summary: 'List the steps of a run',
    params: RunParams,
    query: ListQuery,
    answers: { 200: StepPage },
    errors: [...READ_ERRORS, 'run_not_found'],
  },
  waitForRun: {
    method: 'GET',
    path: '/v1/runs/{id}/wait',
    access: 'read',
    summary: 'Wait until the run ends, or answer with its current state at the timeout',
    params: RunParams,
    query: WaitQuery,
    answers: { 200: RunView },
    errors: [...READ_ERRORS, 'run_not_found'],
  },
  cancelRun: {
    method: 'POST',
    path: '/v1/runs/{id}/cancel',
    access: 'operate',
    summary: 'Cancel a run; 202 if tasks of it still have to stop',
    params: RunParams,
    answers: { 200: RunView, 202: RunView },
    errors: [...CHANGE_ERRORS, 'run_not_found', 'run_finished'],
  },
  pauseRun: {
    ...RUN_OPERATION,
    path: '/v1/runs/{id}/pause',
    summary: 'Pause a run: tasks under way go on, and no step begins',
  },
  resumeRun: {
    ...RUN_OPERATION,
    path: '/v1/runs/{id}/resume',
    summary: 'Resume a paused run; its timeout starts again',
  },
  retryRun: {
    ...RUN_REVIVAL,
    path: '/v1/runs/{id}/retry',
    summary: 'Let a run that did not succeed go on: what failed or was stopped begins again',
  },
  restartRun: {
    ...RUN_REVIVAL,
    path: '/v1/runs/{id}/restart',
    summary: 'Begin an ended run again from its first step, with the same input',
  },
  rerunRun: {
    ...RUN_REVIVAL,
    path: '/v1/runs/{id}/rerun',
    summary: 'Begin an ended run again from a step, which may get another input',
    body: RerunRequest,
    errors: [...RUN_REVIVAL.errors, 'step_not_found'],
  },
  completeRunStep: {
    ...STEP_OPERATION,
    path: '/v1/runs/{id}/steps/{step}/complete',
    summary:
      'End a step as succeeded that runs, a WAIT, a HUMAN or any other, or that failed: then its ' +
      'run goes on',
    body: CompleteStepRequest,
    isBodyOptional: true,
  },
  skipRunStep: {
    ...STEP_OPERATION,
    path: '/v1/runs/{id}/steps/{step}/skip',
    summary: 'Pass over a step that failed, or that has not begun',
  },
  failRunStep: {
    ...STEP_OPERATION,
    path: '/v1/runs/{id}/steps/{step}/fail',
    summary: 'End a step that runs as failed',
    body: FailStepRequest,
  },
} as const satisfies Record<string, Route>;
