import { NO_SLOT, type Slot, type TaskNumber } from '../../base/ids.ts';
import type { Decision } from '../../decision/decision.ts';
import { evaluationRequest } from '../../decision/runs/evaluation-request.ts';
import { jsonText, ValueError } from '../../expressions/json-writer.ts';
import type { PayloadRange } from '../../structures/payload-range.ts';
import { STEP_KINDS } from '../../workflow/program.ts';
import { RUN_TIMED_OUT, STEP_SUCCEEDED } from '../../workflow/run-state.ts';
import { WAIT_FORMS, waitUntil } from '../../workflow/wait-time.ts';
import {
  endStep,
  NOTHING,
  type StepVisit,
  shownReference,
  stopRun,
  visitStep,
} from '../runs/end-steps.ts';
import { fillInput } from './fill-template.ts';

interface StepStart {
  /** When it ends by itself; 0 for never. */
  readonly until?: number;
  /** Number of the evaluation that it waits for; 0 for none. */
  readonly evaluation?: number;
  /** Length of the list that a loop goes over. */
  readonly items?: number;
  readonly input?: PayloadRange;
}

/** A step without a task begins, and waits for something. */
export function startStep(at: StepVisit, { until, evaluation, items, input }: StepStart): void {
  const { decision, run, node, step } = at;
  const { state, emit, events } = decision;
  const event = events.stepStarted;
  event.slot = step as Slot;
  event.task = state.runs.table.number[run] as TaskNumber;
  event.kind = STEP_KINDS.indexOf(node.kind);
  event.reference = shownReference(at, step);
  event.until = until ?? 0;
  event.evaluation = evaluation ?? 0;
  event.items = items ?? 0;
  Object.assign(event.input, input ?? NOTHING);
  emit(event);
}

/** A WAIT ends at its time, or when it is told so; a HUMAN when it is told so. */
export function startWait(at: StepVisit): void {
  const { decision, node } = at;
  const input = fillInput(at);
  const text = decision.runWork.utf8.decode(input.bytes.subarray(input.start, input.end));
  const given = JSON.parse(text) as Record<string, unknown>;
  const until = node.kind === 'WAIT' ? waitUntil(given, decision.now) : 0;
  if (until === undefined) {
    const field = given.duration == null ? 'until' : 'duration';
    const found = jsonText(given[field]).slice(0, SHOWN_MAX);
    throw new ValueError('bad_value', `${field} is ${found}; it must be ${WAIT_FORMS[field]}`);
  }
  startStep(at, { until, input });
}

/** Characters of a bad value in a message. */
const SHOWN_MAX = 100;

/** The shell evaluates the script and reports the result. */
export function startScript(at: StepVisit): void {
  askForScript(at, fillInput(at));
}

/** Without an input, as for a loop, the step keeps the one it has. */
export function askForScript(at: StepVisit, input?: PayloadRange): void {
  const { decision, step } = at;
  const { state, outputs } = decision;
  const evaluation = state.runs.steps.evaluation[step] + 1;
  startStep(at, { evaluation, ...(input === undefined ? {} : { input }) });
  const request = evaluationRequest(decision, step);
  if (request !== undefined) outputs.evaluations.push(request);
}

/** Ends waits and runs whose time has come, at most this many; returns how many. */
export function fireRunTimers(decision: Decision, most: number): number {
  const { state, runWork, now } = decision;
  const { timers, stepTimers, table, steps } = state.runs;
  const programOf = (run: Slot) => runWork.programs.of(state.programs.at(table.program[run]));
  let fired = 0;
  for (; fired < most; fired++) {
    const step = stepTimers.firstDue(now);
    if (step === NO_SLOT) break;
    const run = steps.run[step] as Slot;
    const at = visitStep({ decision, run, program: programOf(run) }, step);
    endStep(at, { state: STEP_SUCCEEDED, nexts: at.node.nexts });
  }
  for (; fired < most; fired++) {
    const run = timers.firstDue(now);
    if (run === NO_SLOT) break;
    const program = programOf(run);
    if (program.alertsOnly) {
      alert(decision, run);
      continue;
    }
    const message = `the run took longer than its timeout of ${program.timeoutMs / 1000} s`;
    const stop = { outcome: RUN_TIMED_OUT, reason: 'run_timeout' as const, message };
    stopRun({ decision, run, program }, stop);
  }
  return fired;
}

/** The run is late: it says so once, and goes on. */
function alert({ state, emit, events, outputs }: Decision, run: Slot): void {
  const event = events.runOverdue;
  event.slot = run;
  event.task = state.runs.table.number[run] as TaskNumber;
  emit(event);
  outputs.overdueRuns.push(run);
}
