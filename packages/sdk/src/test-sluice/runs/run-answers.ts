import {
  Branches,
  type KnownTask,
  type ReadonlyState,
  type ReviveRunReply,
  RUN_STATES,
  runIdText,
  type Slot,
  type StartRunsReply,
  type StoredProgram,
  whyNoStep,
} from '@sluice/core';
import { problemText } from '../../calls/http-answers.ts';
import { errorOf, SluiceError } from '../../calls/sluice-error.ts';
import type { RunQuery } from '../../operators/run-port.ts';
import type { RunRequest, RunSummary, StartedRun } from '../../workflow/run-types.ts';
import type { Sent } from '../server/in-process-lists.ts';
import { UTF8 } from '../server/payloads.ts';
import { programOf, runIdOf } from '../server/step-outline.ts';

export function startedRun(
  state: ReadonlyState,
  slot: Slot,
  known: KnownTask | undefined,
): StartedRun {
  if (known === undefined) {
    return { id: runIdOf(state, slot), status: 'running', deduplicated: false };
  }
  const word = RUN_STATES[known.state];
  const id = runIdText({ ...known, partition: state.partition });
  return { id, status: word === 'stopping' ? 'running' : word, deduplicated: true };
}

/** Whether the run is one that was asked for. */
export function isMeant(run: RunSummary, query: Sent<RunQuery>): boolean {
  const { workflow, status, correlationId, tags = {}, since, until } = query;
  const at = Date.parse(run.startedAt ?? '');
  return (
    (workflow === undefined || run.workflow === workflow) &&
    (status === undefined || run.status === status) &&
    (correlationId === undefined || run.correlationId === correlationId) &&
    at >= (since === undefined ? 0 : new Date(since).getTime()) &&
    at < (until === undefined ? Number.POSITIVE_INFINITY : new Date(until).getTime()) &&
    Object.entries(tags).every(([name, value]) => run.tags[name] === value)
  );
}

export function versionView({ version, hash, scopes, registeredAt }: StoredProgram) {
  const at = new Date(registeredAt).toISOString();
  const steps = scopes.reduce((sum, { arrivals }) => sum + arrivals.length, 0);
  return { version, hash, steps, registeredAt: at };
}

export function startRefusal(
  { rejection = 'too_many_tasks', at = 0, unfit = [] }: StartRunsReply,
  requests: readonly RunRequest[],
  isSingle: boolean,
): SluiceError {
  const { workflow, version } = requests[at];
  if (rejection === 'workflow_not_found') return workflowNotFound(workflow, version);
  if (rejection === 'unfit_input') {
    const details = unfit.map((each) => ({
      path: `${isSingle ? '' : `/${each.at}`}/input${each.path}`,
      problem: each.problem,
    }));
    const more = details.length > 1 ? ` (and ${details.length - 1} more)` : '';
    const message = `the input does not fit the workflow: ${problemText(details[0])}${more}`;
    return errorOf({ status: 400, code: 'invalid_request', message, details });
  }
  const status = rejection === 'dedupe_mismatch' ? 409 : 429;
  return refusal(status, rejection, `the runs were refused: ${rejection}`);
}

export function workflowNotFound(name: string, version?: number): SluiceError {
  const which = version === undefined ? '' : ` with version ${version}`;
  return refusal(404, 'workflow_not_found', `no workflow '${name}'${which}`);
}

export function runNotFound(id: string): SluiceError {
  return refusal(404, 'run_not_found', `no run '${id}'`);
}

export function runRefusal(code: 'run_not_found' | 'run_finished', id: string): SluiceError {
  if (code === 'run_not_found') return runNotFound(id);
  return refusal(409, code, `run '${id}' has ended`);
}

/** What is said of a run that cannot go on. */
export function revivalRefusal(
  code: Exclude<NonNullable<ReviveRunReply['rejection']>, 'step_not_found'>,
  id: string,
  fromStep: string,
): SluiceError {
  switch (code) {
    case 'run_not_found':
      return runNotFound(id);
    case 'run_finished':
      return refusal(409, code, `run '${id}' has no step to retry; use rerun or restart`);
    case 'run_not_finished':
      return refusal(409, code, `run '${id}' has not ended yet`);
    case 'input_not_used': {
      const message = `/input must be absent: step '${fromStep}' takes no input`;
      return refusal(400, 'invalid_request', message);
    }
    case 'input_not_object':
      return refusal(400, 'invalid_request', `/input must be an object for step '${fromStep}'`);
    case 'too_many_tasks':
    case 'quota_exceeded':
      return refusal(429, 'overloaded', 'the server has no room for the tasks of the run');
  }
}

export function stepRefusal(
  code: 'step_not_found' | 'step_not_waiting',
  state: ReadonlyState,
  { run, reference }: { readonly run: Slot; readonly reference: string },
): SluiceError {
  const program = programOf(state, run);
  const branches = new Branches(state, UTF8);
  const message = whyNoStep(state, { run, program, reference, branches });
  return refusal(code === 'step_not_found' ? 404 : 409, code, message);
}

export function refusal(status: number, code: string, message: string): SluiceError {
  return new SluiceError(code, message, { status });
}
