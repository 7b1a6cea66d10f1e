import type { TaskNumber } from '../../base/ids.ts';
import { queueKey } from '../../base/queue-key.ts';
import { BlobNeeded } from '../../decision/runs/blob-values.ts';
import { runOutput } from '../../decision/runs/run-output.ts';
import { ValueError } from '../../expressions/json-writer.ts';
import { TASK_TYPES_MAX } from '../../state/state.ts';
import type { PayloadRange } from '../../structures/payload-range.ts';
import { TASK_STATES } from '../../task/task-state.ts';
import { RUN_DELIVERIES } from '../../workflow/program.ts';
import {
  RUN_FAILED,
  RUN_STATES,
  RUN_SUCCEEDED,
  type RunReason,
  runReason,
} from '../../workflow/run-state.ts';
import { NOTHING, type Visit } from '../runs/end-steps.ts';
import { askForOutput } from './blob-steps.ts';
import { aftermathOf } from './failure-runs.ts';
import { checkOutput } from './immediate-steps.ts';

/** Nothing of the run is left to do. False when memory has no room for what follows. */
export function finishRun(visit: Visit): boolean {
  const { decision, run, program } = visit;
  if (decision.state.runs.table.hasFailure[run] !== 0) {
    return failAtEnd(visit, 'step_failed', 'a permissive step did not succeed');
  }
  try {
    const output = runOutput(decision, { run, program }) ?? NOTHING;
    checkOutput(visit, output);
    return endRun(visit, { state: RUN_SUCCEEDED, reason: 0, output });
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    if (error instanceof BlobNeeded && askForOutput(visit, error)) return true;
    return failAtEnd(visit, error.code, `the output of the run: ${error.message}`);
  }
}

export function failAtEnd(visit: Visit, code: RunReason, message: string): boolean {
  const bytes = visit.decision.runWork.utf8.encode(JSON.stringify({ code, message }));
  const output = { bytes, start: 0, end: bytes.length };
  return endRun(visit, { state: RUN_FAILED, reason: runReason(code), output });
}

interface RunEnd {
  readonly state: number;
  readonly reason: number;
  /** Absent when the run keeps what it has. */
  readonly output?: PayloadRange;
}

/** Ends a run, and starts its failure workflow. False when memory has no room for that. */
export function endRun(visit: Visit, end: RunEnd): boolean {
  const { decision, run } = visit;
  const { state, emit, events, outputs } = decision;
  const { state: outcome, reason } = end;
  const error = end.output ?? outputOf(visit);
  const aftermath = aftermathOf(visit, { state: outcome, reason, error });
  if (aftermath === 'no_room') return false;
  const output = aftermath?.error ?? end.output;
  const event = events.runEnded;
  event.slot = run;
  event.task = state.runs.table.number[run] as TaskNumber;
  event.state = outcome;
  event.reason = reason;
  event.hasOutput = output !== undefined;
  Object.assign(event.output, output ?? NOTHING);
  emit(event);
  outputs.endedRuns.push(run);
  oweDelivery(visit, outcome);
  aftermath?.start();
  return true;
}

/** The receiver of the definition hears of the end. */
function oweDelivery({ decision, run, program }: Visit, outcome: number): void {
  const { state, emit, events } = decision;
  const { callback } = program;
  const name = RUN_STATES[outcome];
  if (callback === undefined || !callback.on.includes(name)) return;
  const { namespace } = state.programs.at(state.runs.table.program[run]);
  const taskType = queueKey(namespace, RUN_DELIVERIES);
  // Deliveries need one of the places that task types have.
  if (state.queueOf(taskType) === undefined && state.queueCount >= TASK_TYPES_MAX) return;
  const event = events.runDeliveryOwed;
  event.slot = run;
  event.task = state.runs.table.number[run] as TaskNumber;
  event.state = (TASK_STATES as readonly string[]).indexOf(name);
  event.taskType = taskType;
  event.callback = callback.text;
  emit(event);
}

/** What a run that stops was given as its output or error. */
function outputOf({ decision, run }: Visit): PayloadRange {
  const { payloads, runs } = decision.state;
  const { output, outputLength } = runs.table;
  if (outputLength[run] === 0) return NOTHING;
  const start = payloads.startOf(output[run]);
  return { bytes: payloads.bytesOf(output[run]), start, end: start + outputLength[run] };
}
