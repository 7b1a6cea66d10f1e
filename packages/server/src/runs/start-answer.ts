import {
  type KnownTask,
  type ReadonlyState,
  RUN_STATES,
  runIdText,
  type Slot,
  type StartRuns,
  type StartRunsReply,
  type TaskNumber,
  type UnfitInput,
} from '@sluice/core';
import { type ErrorDetail, SluiceError } from '@sluice/protocol';
import { statusOf } from '../answers/shown-run.ts';
import { invalid } from '../base/validation.ts';
import { overloaded } from '../limits/admission.ts';
import { quotaExceeded } from '../limits/quotas.ts';
import { tooManyWorkflows, workflowNotFound } from '../workflows/workflow-views.ts';

/** One run of the answer to a start. */
export interface StartedRun {
  readonly id: string;
  readonly status: string;
  readonly deduplicated: boolean;
}

/** The runs of an accepted start, in order. */
export function startedRuns({ slots, known }: StartRunsReply, state: ReadonlyState): StartedRun[] {
  return slots.map((slot, place) => {
    const before = known?.get(place);
    const { number, submittedAt, state: runState } = before ?? runAt(state, slot);
    return {
      id: runIdText({ submittedAt, partition: state.partition, number }),
      status: statusOf(RUN_STATES[runState]),
      deduplicated: before !== undefined,
    };
  });
}

function runAt({ runs: { table } }: ReadonlyState, slot: Slot): KnownTask {
  return {
    number: table.number[slot] as TaskNumber,
    submittedAt: table.startedAt[slot],
    state: table.state[slot],
  };
}

/** What a refused start is answered with; `keys` are the dedupe keys of its runs. */
export interface StartRequest {
  readonly command: Pick<StartRuns, 'runs'>;
  readonly keys: readonly (string | undefined)[];
  readonly pathOf: (index: number) => string;
}

export function startRefusal(
  { rejection, quota = 'tasksMax', at = 0, unfit = [] }: StartRunsReply,
  { limits }: ReadonlyState,
  { command, keys, pathOf }: StartRequest,
): SluiceError {
  const { workflow, version } = command.runs[at];
  switch (rejection) {
    case 'workflow_not_found':
      return workflowNotFound(workflow, version);
    case 'too_many_callbacks':
      return overloaded('the server has the maximum number of pending callbacks');
    case 'too_many_workflows':
      return tooManyWorkflows();
    case 'quota_exceeded':
      return quotaExceeded(quota, limits.quotas?.[quota]);
    case 'invalid_definition':
      return new SluiceError(rejection, `the definition of '${workflow}' is not valid`);
    case 'dedupe_mismatch': {
      const path = `${pathOf(at)}/dedupeKey`;
      const problem = `${JSON.stringify(keys[at])} was used with another input`;
      const details = [{ path, problem }];
      return new SluiceError(rejection, `${path} ${problem}`, { details });
    }
    case 'value_too_large': {
      const path = `${pathOf(at)}/input`;
      const problem = 'is too large to be merged with the inputTemplate of the workflow';
      const details = [{ path, problem }];
      return new SluiceError('payload_too_large', `${path} ${problem}`, { details });
    }
    case 'unfit_input':
      return invalid('the input does not fit the workflow', unfitDetails(unfit, pathOf));
    case 'too_many_bytes':
      return overloaded('inputs and results use too much memory');
    case 'too_many_keys':
      return overloaded('the server has the maximum number of dedupe keys');
    default:
      return overloaded('the server holds the maximum number of tasks and steps');
  }
}

function unfitDetails(unfit: readonly UnfitInput[], pathOf: StartRequest['pathOf']): ErrorDetail[] {
  return unfit.map(({ at, path, problem }) => ({ path: `${pathOf(at)}/input${path}`, problem }));
}
