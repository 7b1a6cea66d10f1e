import { NO_SLOT, type Slot } from '../../base/ids.ts';
import type { Decision } from '../../decision/decision.ts';
import { RUN_STOPPING } from '../../workflow/run-state.ts';
import { endReported, stopStep, type Visit } from '../runs/end-steps.ts';
import { endWithChild, hasChild, stopChild } from './child-ends.ts';
import { enterStep } from './enter-step.ts';
import { endRun, finishRun } from './finish-run.ts';

/**
 * Bounds on the work for runs of one command. A unit is one event, or some bytes that are looked at
 * or copied. What is left stays in the line and goes on with the next command or alarm, also after
 * a restart.
 */
const UNITS_PER_COMMAND = 100;
const UNITS_PER_EVENT = 2;
/** A run has this many before the next run in the line has its turn. */
const UNITS_PER_TURN = 64;

/** How long no step enters when memory is full. */
export const REST_MS = 100;

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
  const owed = runWork.takeOwed();
  let units = Math.min(runWork.units, wanted) - (runWork.isCold ? owed : 0);
  // The alarm always goes on with something.
  if (events === 'all') units = Math.max(1, units);
  let steps = 0;
  while (units > 0 && line.length > 0) {
    const run = turnOf(decision);
    runWork.next = state.runs.table.next[run] as Slot;
    const { events: before } = runWork;
    const turn = visitRun(decision, run, Math.min(units, UNITS_PER_TURN));
    units -= turn.spent;
    steps += turn.steps;
    // Parts of a list that were only read are no progress: without room they are read again.
    if (turn.isFull) runWork.fullInRow += 1;
    else if (runWork.events > before) runWork.fullInRow = 0;
    // Other runs may still end, which makes room. None can when all of them wait for memory.
    if (runWork.fullInRow > line.length) {
      runWork.fullInRow = 0;
      runWork.restsUntil = now + REST_MS;
      return;
    }
  }
  if (units <= 0 && wanted > runWork.units) runWork.warmUp(steps);
}

function turnOf({ state, runWork }: Decision): Slot {
  const { table, line } = state.runs;
  const { next } = runWork;
  return next !== NO_SLOT && table.isInLine[next] === 1 ? next : line.head;
}

interface Turn {
  readonly spent: number;
  readonly steps: number;
  /** Memory has no room for what comes next. */
  readonly isFull: boolean;
}

/** Works on one run. */
function visitRun(decision: Decision, run: Slot, units: number): Turn {
  const { state, runWork } = decision;
  const { table } = state.runs;
  const program = runWork.programs.of(state.programs.at(table.program[run]));
  const visit = { decision, run, program };
  let spent = runWork.takeOwed();
  let steps = 0;
  while (spent < units && table.isInLine[run] === 1) {
    runWork.value.clear();
    runWork.list.clear();
    const isFull = !advance(visit);
    runWork.spendBytes(runWork.value.length + runWork.list.length);
    steps += 1;
    spent += 1 + runWork.takeOwed();
    if (isFull) return { spent, steps, isFull };
  }
  return { spent, steps, isFull: false };
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
