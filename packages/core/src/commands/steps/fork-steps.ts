import type { Slot, TaskNumber } from '../../base/ids.ts';
import { elementCount, kindOf } from '../../expressions/json-bytes.ts';
import type { PayloadRange } from '../../structures/payload-range.ts';
import { asNumber } from '../../workflow/fork-form.ts';
import {
  BRANCHES_MAX,
  type ForkNode,
  type ForkOverItems,
  STEPS_PER_RUN_MAX,
} from '../../workflow/program.ts';
import { STEP_FAILED, STEP_SUCCEEDED } from '../../workflow/run-state.ts';
import { endStep, type StepVisit } from '../runs/end-steps.ts';
import { fillAndParse } from './fill-template.ts';
import { checkList, checkType, versionOf } from './fork-checks.ts';
import { taskList } from './fork-task-list.ts';
import { startStep } from './waiting-steps.ts';

/** The list of a dynamic fork, as its input has it (see `Branch`). */
export interface ForkList {
  readonly input: PayloadRange;
  readonly count: number;
  /** Branches that have a task; the others run a workflow. */
  readonly tasks: number;
}

/** To open this many branches takes as long as a step. */
const BRANCHES_PER_UNIT = 100;

/**
 * Begins all branches of a dynamic fork. False when memory has no room for them. A fork whose list
 * is not read to its end stays due.
 */
export function enterFork(at: StepVisit): boolean {
  const { decision, node } = at;
  const { state } = decision;
  const fork = node.fork as ForkNode;
  const list = fork.form === 'items' ? itemList(at, fork) : taskList(at, fork);
  if (list === undefined) return true;
  const { count, input, tasks: taskCount } = list;
  if (count > BRANCHES_MAX) {
    const what = `it has ${count} branches; a fork has at most ${BRANCHES_MAX}`;
    return fail(at, 'too_many_branches', what);
  }
  const { tasks, runs, limits } = state;
  const most = Math.min(limits.tasksMax, STEPS_PER_RUN_MAX - runs.table.size[at.run]);
  if (count > most) {
    return fail(at, 'run_too_large', `there is never room for its ${count} branches`);
  }
  const isFull = state.heldBytes + input.end > limits.payloadBytesMax;
  const hasTasks = tasks.count + runs.promised + taskCount <= limits.tasksMax;
  if (isFull || !hasTasks || (count > 0 && !runs.steps.hasRoomFor([count]))) return false;
  startStep(at, { input, items: count });
  if (count === 0) endStep(at, { state: STEP_SUCCEEDED, nexts: node.nexts });
  else openBranches(at, fork, list);
  return true;
}

function fail(at: StepVisit, reason: 'too_many_branches' | 'run_too_large', what: string): true {
  const message = `step "${at.node.reference}": ${what}`;
  endStep(at, { state: STEP_FAILED, reason, message, nexts: at.node.nexts });
  return true;
}

function openBranches(at: StepVisit, { scope }: ForkNode, { count, tasks }: ForkList): void {
  const { decision, run, program, step, node, frame } = at;
  const { state, emit, events } = decision;
  const event = events.branchesOpened;
  event.slot = step as Slot;
  event.task = state.runs.table.number[run] as TaskNumber;
  event.scope = scope;
  event.base = state.runs.steps.nextFrame(count);
  event.count = count;
  event.tasks = tasks;
  event.join = frame + node.nexts[0] - program.scopes[node.scope].first;
  emit(event);
  decision.runWork.spend(Math.floor(count / BRANCHES_PER_UNIT));
}

/** The items stay as they are. They may be many, so nothing is parsed. */
function itemList(at: StepVisit, { items, name, version, isOnly }: ForkOverItems): ForkList {
  const { decision, node } = at;
  const { list, utf8, filler, values } = decision.runWork;
  const type = fillAndParse(decision, at, name);
  const workflow = version && versionOf(type, asNumber(fillAndParse(decision, at, version)));
  if (workflow === undefined) checkType(type, 'forkTaskName');
  list.clear();
  const prefix = isOnly ? `_${type}_` : `_${node.reference}_${type}_`;
  const ofWorkflow = workflow === undefined ? {} : { workflow: String(workflow) };
  const lead = { reference: prefix, name: type, ...ofWorkflow };
  list.copy(utf8.encode(`${JSON.stringify(lead).slice(0, -1)},"items":`));
  const start = list.length;
  filler.fill(items, (part) => values.find(at, part), list);
  const range = { bytes: list.bytes, start, end: list.length };
  checkList(kindOf(range), 'forkTaskInputs');
  const count = elementCount(range);
  list.copy(utf8.encode('}'));
  const tasks = workflow === undefined ? count : 0;
  return { input: { bytes: list.bytes, start: 0, end: list.length }, count, tasks };
}
