import { isBlobReference } from '../../base/blob-reference.ts';
import type { Slot, TaskNumber } from '../../base/ids.ts';
import { runIdText } from '../../base/run-id.ts';
import { taskIdText } from '../../base/task-id.ts';
import { runIdOf } from '../../decision/runs/child-id.ts';
import { outermost } from '../../decision/runs/run-place.ts';
import { VALUE_BYTES_MAX, ValueError } from '../../expressions/json-writer.ts';
import type { PayloadRange } from '../../structures/payload-range.ts';
import {
  FAILURE_RUN,
  RUN_CANCELLED,
  RUN_SUCCEEDED,
  RUN_TIMED_OUT,
  runReason,
} from '../../workflow/run-state.ts';
import type { Visit } from '../runs/end-steps.ts';
import {
  checkWhich,
  correlationOf,
  findRegistered,
  hasRoom,
  hasWaited,
  NO_ROOM,
  startChild,
  takeStored,
  type Which,
  whyNotFound,
} from './child-runs.ts';
import { fillAndParse, jsonBytes } from './fill-template.ts';

/** How a run is about to end. */
export interface Ending {
  readonly state: number;
  readonly reason: number;
  /** Its error, as JSON. */
  readonly error: PayloadRange;
}

/** What follows a failure. */
export interface Aftermath {
  /** The error of the run, which names the run that follows, or why none does. */
  readonly error: PayloadRange;
  /** Starts that run, once the failed one has ended. */
  readonly start: () => void;
}

/**
 * Prepares the failure workflow of a run that is about to end. It starts in the same record as the
 * run ends, so that it starts once. Undefined when there is nothing to start; `no_room` when the
 * run has to wait with its end.
 */
export function aftermathOf(visit: Visit, ending: Ending): Aftermath | 'no_room' | undefined {
  const { decision, run, program } = visit;
  const { table } = decision.state.runs;
  if (program.failure === undefined || !isFailure(ending)) return undefined;
  if (table.relation[run] === FAILURE_RUN) return undefined;
  try {
    const where = outermost(decision.state.runs, run, program);
    const which = fillAndParse(decision, where, program.failure) as Which;
    checkWhich(which, 'failureWorkflow');
    const found = findRegistered(visit, which);
    if (typeof found === 'string') return withoutRun(visit, ending, whyNotFound(found, which));
    const input = inputOf(visit, ending);
    if (!hasRoom(visit, found, input)) {
      return hasWaited(visit) ? withoutRun(visit, ending, NO_ROOM) : 'no_room';
    }
    const number = decision.state.nextTask;
    const { partition } = decision.state;
    const failureRunId = runIdText({ submittedAt: decision.now, partition, number });
    const start = (): void => {
      const stored = takeStored(decision, found);
      const correlation = correlationOf(visit);
      startChild(visit, { stored, input, relation: FAILURE_RUN, step: 0, correlation });
    };
    return { error: withField(visit, ending.error, { failureRunId }), start };
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    return withoutRun(visit, ending, error.message);
  }
}

/** A cancel by call is no failure; a TERMINATE is. */
function isFailure({ state, reason }: Ending): boolean {
  if (state === RUN_CANCELLED) return reason === runReason('terminated');
  return state !== RUN_SUCCEEDED;
}

function withoutRun(visit: Visit, { error }: Ending, why: string): Aftermath {
  const failureProblem = `the failure workflow did not start: ${why}`;
  return { error: withField(visit, error, { failureProblem }), start: () => undefined };
}

function withField({ decision }: Visit, error: PayloadRange, field: object): PayloadRange {
  return jsonBytes(decision, { ...parsed(decision, error), ...field });
}

/** What happened, and the input of the run, as far as there is room for it. */
function inputOf(visit: Visit, { state, error: failure }: Ending): PayloadRange {
  const { decision, run } = visit;
  const { message, step } = parsed(decision, failure) as { message?: string; step?: string };
  const about = {
    workflowId: runIdOf(decision.state, run),
    reason: message ?? null,
    failureStatus: STATUS.get(state) ?? 'FAILED',
    failureTaskId: taskIdOf(visit),
    failureStep: step ?? null,
  };
  try {
    const whole = jsonBytes(decision, { ...given(visit), ...about });
    if (whole.end <= VALUE_BYTES_MAX / 2) return whole;
  } catch (error) {
    // An input that is nested too deeply is left out, as one that is too large.
    if (!(error instanceof ValueError)) throw error;
  }
  return jsonBytes(decision, about);
}

const STATUS = new Map([
  [RUN_TIMED_OUT, 'TIMED_OUT'],
  [RUN_CANCELLED, 'TERMINATED'],
]);

/** An input that is no object is in the field `input`. */
function given({ decision, run }: Visit): object {
  const { payloads, runs } = decision.state;
  const { input, inputLength } = runs.table;
  const length = inputLength[run];
  if (length === 0) return {};
  const bytes = payloads.bytesOf(input[run]);
  const start = payloads.startOf(input[run]);
  if (isBlobReference(bytes, start, length)) return {};
  const value: unknown = parsed(decision, { bytes, start, end: start + length });
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? value : { input: value };
}

/** The task of the step that decided the outcome. */
function taskIdOf({ decision, run }: Visit): string | null {
  const { runs, tasks, partition } = decision.state;
  const step = runs.table.decider[run] - 1;
  const task = step < 0 ? -1 : runs.steps.link[step] - 1;
  if (task < 0) return null;
  const number = tasks.number[task] as TaskNumber;
  return taskIdText({ submittedAt: tasks.submittedAt[task as Slot], partition, number });
}

function parsed({ runWork }: Visit['decision'], range: PayloadRange): object {
  const { bytes, start, end } = range;
  if (start === end) return {};
  return JSON.parse(runWork.utf8.decode(bytes.subarray(start, end))) as object;
}
