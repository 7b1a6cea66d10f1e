import { isBlobReference } from '../../base/blob-reference.ts';
import { NO_SLOT, type Slot, type TaskNumber } from '../../base/ids.ts';
import type { Decision } from '../../decision/decision.ts';
import { outermost } from '../../decision/runs/run-place.ts';
import { ValueError } from '../../expressions/json-writer.ts';
import type { PayloadRange } from '../../structures/payload-range.ts';
import { NO_PLACE } from '../../workflow/graph.ts';
import type { StepNode } from '../../workflow/program.ts';
import {
  isStepOver,
  RUN_FAILED,
  RUN_STOPPING,
  RUN_SUCCEEDED,
  type RunReason,
  runReason,
} from '../../workflow/run-state.ts';
import { endReported, NOTHING, stopStep, type Visit } from '../runs/end-steps.ts';
import { endWithChild, hasChild, stopChild } from './child-ends.ts';
import { enterStep } from './enter-step.ts';
import { aftermathOf } from './failure-runs.ts';
import { fill } from './fill-template.ts';
import { checkOutput } from './immediate-steps.ts';

/**
 * Bounds on the work for runs of one command. A unit is one event, or some bytes that are looked at
 * or copied. What is left stays in the line and goes on with the next command or alarm, also after
 * a restart.
 */
const UNITS_PER_COMMAND = 100;
const UNITS_PER_EVENT = 2;
/** A run has this many before the next run in the line has its turn. */
const UNITS_PER_TURN = 64;
const BYTES_PER_UNIT = 2048;

/** How long no step enters when memory is full. */
const REST_MS = 100;

export interface RunBudget {
  /** Events of the command itself, or `all` for the command that has time for runs. */
  readonly events: number | 'all';
}

/** Does what is to be done for runs, as far as the budget goes. */
export function proceed(decision: Decision, { events }: RunBudget): void {
  const { state, runWork, now } = decision;
  const { line } = state.runs;
  // While memory is full the alarm rests. A command may bring a run that needs no memory.
  const isResting = now < runWork.restsUntil && (events === 'all' || events === 0);
  if (line.length === 0 || isResting) return;
  const wanted = events === 'all' ? Infinity : UNITS_PER_COMMAND + UNITS_PER_EVENT * events;
  let units = Math.min(runWork.unitsMax, wanted);
  while (units > 0 && line.length > 0) {
    const run = turnOf(decision);
    runWork.next = state.runs.table.next[run] as Slot;
    const spent = visitRun(decision, run, Math.min(units, UNITS_PER_TURN));
    units -= Math.abs(spent);
    runWork.fullInRow = spent === FULL ? runWork.fullInRow + 1 : 0;
    // Other runs may still end, which makes room. None can when all of them wait for memory.
    if (runWork.fullInRow > line.length) {
      runWork.fullInRow = 0;
      runWork.restsUntil = now + REST_MS;
      return;
    }
  }
}

const FULL = -1;

function turnOf({ state, runWork }: Decision): Slot {
  const { table, line } = state.runs;
  const { next } = runWork;
  return next !== NO_SLOT && table.isInLine[next] === 1 ? next : line.head;
}

/** Works on one run; returns the units that it took, or `FULL`. */
function visitRun(decision: Decision, run: Slot, units: number): number {
  const { state, runWork } = decision;
  const { table } = state.runs;
  const program = runWork.programs.of(state.programs.at(table.program[run]));
  const visit = { decision, run, program };
  let spent = 0;
  while (spent < units && table.isInLine[run] === 1) {
    runWork.value.clear();
    runWork.list.clear();
    if (!advance(visit)) return FULL;
    const bytes = runWork.value.length + runWork.list.length;
    spent += 1 + Math.floor(bytes / BYTES_PER_UNIT);
  }
  return spent;
}

/** One thing at a time, in this order. False when memory has no room. */
function advance(visit: Visit): boolean {
  const { table } = visit.decision.state.runs;
  const { run } = visit;
  const reported = table.reportedHead[run];
  if (reported !== NO_SLOT) {
    if (hasChild(visit, reported)) endWithChild(visit, reported);
    else endReported(visit, reported);
  } else if (table.state[run] === RUN_STOPPING) {
    const step = table.runningHead[run];
    const left = step === NO_SLOT ? dueLoop(visit) : step;
    if (left !== NO_SLOT) {
      if (hasChild(visit, left)) stopChild(visit, left);
      else stopStep(visit, left);
    } else return endRun(visit, { state: table.outcome[run], reason: table.reason[run] });
  } else {
    const due = table.dueHead[run];
    if (due !== NO_SLOT) return enterStep(visit, due);
    return finishRun(visit);
  }
  return true;
}

/** A loop whose body is over, and which has not gone on yet. */
function dueLoop({ decision, run }: Visit): number {
  const { table, steps } = decision.state.runs;
  let step = table.dueHead[run];
  while (step !== NO_SLOT && steps.inner[step] === 0) step = steps.next[step];
  return step;
}

/** Nothing of the run is left to do. False when memory has no room for what follows. */
function finishRun(visit: Visit): boolean {
  const { decision, run, program } = visit;
  if (decision.state.runs.table.hasFailure[run] !== 0) {
    return failAtEnd(visit, 'step_failed', 'a permissive step did not succeed');
  }
  try {
    const { runs } = decision.state;
    const output =
      program.output === undefined
        ? lastOutput(visit)
        : fill(decision, outermost(runs, run, program), program.output);
    checkOutput(visit, output);
    return endRun(visit, { state: RUN_SUCCEEDED, reason: 0, output });
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    return failAtEnd(visit, error.code, `the output of the run: ${error.message}`);
  }
}

function failAtEnd(visit: Visit, code: RunReason, message: string): boolean {
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
function endRun(visit: Visit, end: RunEnd): boolean {
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
  aftermath?.start();
  return true;
}

/** What a run that stops was given as its output or error. */
function outputOf({ decision, run }: Visit): PayloadRange {
  const { payloads, runs } = decision.state;
  const { output, outputLength } = runs.table;
  if (outputLength[run] === 0) return NOTHING;
  const start = payloads.startOf(output[run]);
  return { bytes: payloads.bytesOf(output[run]), start, end: start + outputLength[run] };
}

/** Without a template the output is that of the last step; after a SWITCH, of the case taken. */
function lastOutput(visit: Visit): PayloadRange {
  const { decision, run, program } = visit;
  const { runs } = decision.state;
  const base = runs.table.base[run];
  let node: StepNode = program.nodes[program.last];
  while (node.kind === 'SWITCH' && isStepOver(runs.steps.state[base + node.place])) {
    const last = lastOfCase(visit, node);
    if (last === NO_PLACE) break;
    node = program.nodes[last];
  }
  const where = outermost(runs, run, program);
  return rawOutput(visit, node) ?? decision.runWork.values.outputOf(where, node) ?? NOTHING;
}

function lastOfCase(visit: Visit, node: StepNode): number {
  const { decision, run, program } = visit;
  const { utf8, values } = decision.runWork;
  const output = values.outputOf(outermost(decision.state.runs, run, program), node);
  if (output === undefined) return NO_PLACE;
  const text = utf8.decode(output.bytes.subarray(output.start, output.end));
  const { selectedCase } = JSON.parse(text) as { selectedCase: string };
  return node.lastOfCases.get(selectedCase) ?? node.lastOtherwise;
}

/** The output of a task or of a child as it is, which may be a blob. */
function rawOutput({ decision, run }: Visit, node: StepNode): PayloadRange | undefined {
  const { runs, tasks, payloads } = decision.state;
  const step = runs.table.base[run] + node.place;
  const task = runs.steps.link[step] - 1;
  const length = task < 0 ? runs.steps.outputLength[step] : tasks.resultLength[task];
  if (length === 0) return undefined;
  const reference = task < 0 ? runs.steps.output[step] : tasks.result[task];
  const bytes = payloads.bytesOf(reference);
  const start = payloads.startOf(reference);
  return isBlobReference(bytes, start, length) ? { bytes, start, end: start + length } : undefined;
}
