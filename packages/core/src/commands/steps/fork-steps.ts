import type { Slot, TaskNumber } from '../../base/ids.ts';
import type { ListedBranch } from '../../decision/runs/branches.ts';
import { elementCount, kindOf } from '../../expressions/json-bytes.ts';
import { jsonText, ValueError } from '../../expressions/json-writer.ts';
import type { Template } from '../../expressions/template.ts';
import type { PayloadRange } from '../../structures/payload-range.ts';
import { asNumber } from '../../workflow/fork-form.ts';
import { isObject, Problems } from '../../workflow/problems.ts';
import {
  BRANCHES_MAX,
  type ForkNode,
  type ForkOverItems,
  type ForkOverTasks,
  STEPS_PER_RUN_MAX,
} from '../../workflow/program.ts';
import { STEP_FAILED, STEP_SUCCEEDED } from '../../workflow/run-state.ts';
import { conductorOptions, TASK_TYPE } from '../../workflow/step-task.ts';
import { endStep, NOTHING, type StepVisit } from '../runs/end-steps.ts';
import { checkWhich } from './child-runs.ts';
import { fillAndParse } from './fill-template.ts';
import { startStep } from './waiting-steps.ts';

/** The list of a dynamic fork, as its input has it (see `Branch`). */
interface ForkList {
  readonly input: PayloadRange;
  readonly count: number;
  /** Branches that have a task; the others run a workflow. */
  readonly tasks: number;
}

/** Begins all branches of a dynamic fork. False when memory has no room for them. */
export function enterFork(at: StepVisit): boolean {
  const { decision, node } = at;
  const { state } = decision;
  const fork = node.fork as ForkNode;
  const list = fork.form === 'items' ? itemList(at, fork) : taskList(at, fork);
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

/** Each branch says what it is, and its input is in the map, or with it. */
function taskList(at: StepVisit, fork: ForkOverTasks): ForkList {
  const { tasksParam, inputsParam } = fork;
  const found = parsed(at, fork.tasks);
  const listed = isObject(found) ? found.dynamicTasks : found;
  if (!Array.isArray(listed)) checkList(kindName(listed), tasksParam);
  const inputs = fork.inputs === undefined ? {} : parsed(at, fork.inputs);
  if (!isObject(inputs)) {
    const what = `${inputsParam} must be an object with the inputs by reference`;
    throw new ValueError('bad_value', `${what}, and it is a ${kindName(inputs)}`);
  }
  // The caller refuses a list that is too long.
  if ((listed as readonly unknown[]).length > BRANCHES_MAX) {
    return { input: NOTHING, count: (listed as readonly unknown[]).length, tasks: 0 };
  }
  const used = new Set<string>(at.program.byReference.keys());
  const branches = (listed as readonly unknown[]).map((each, index) => {
    const branch = branchOf(each, `${tasksParam}[${index}]`, inputs);
    if (used.has(branch.reference)) {
      const what = `the reference "${branch.reference}" is used already`;
      throw new ValueError('bad_value', `${tasksParam}[${index}]: ${what}`);
    }
    used.add(branch.reference);
    return branch;
  });
  const { list, utf8 } = at.decision.runWork;
  list.clear();
  list.copy(utf8.encode(jsonText({ branches })));
  const tasks = branches.filter(({ workflow }) => workflow === undefined).length;
  const input = { bytes: list.bytes, start: 0, end: list.length };
  return { input, count: branches.length, tasks };
}

function parsed(at: StepVisit, template: Template): unknown {
  const { list, utf8, filler, values } = at.decision.runWork;
  list.clear();
  filler.fill(template, (part) => values.find(at, part), list);
  return JSON.parse(utf8.decode(list.bytes.subarray(0, list.length)));
}

/** References may not look like those of iterations. */
const REFERENCE = /^(?!workflow$)(?!.*__)[^.[\]{}$'"\s()*?@,:/~]{1,128}$/;

/** Reads the names of Conductor, the older ones, too. */
function branchOf(
  value: unknown,
  where: string,
  inputs: Readonly<Record<string, unknown>>,
): ListedBranch {
  if (!isObject(value)) throw new ValueError('bad_value', `${where} must be an object`);
  const reference = value.taskReferenceName ?? value.referenceName;
  if (typeof reference !== 'string' || !REFERENCE.test(reference)) {
    const what = 'taskReferenceName must be a text without "__" and without . [ ] { } $ and spaces';
    throw new ValueError('bad_value', `${where}: ${what}`);
  }
  const what = whatOf(value, where);
  const problems = new Problems();
  const options = conductorOptions(problems, { value, path: where });
  const optional = problems.flag({ value, path: where }, 'optional');
  const [problem] = problems.list;
  if (problem !== undefined) throw new ValueError('bad_value', `${where}: ${problem.message}`);
  const given = Object.hasOwn(inputs, reference) ? inputs[reference] : undefined;
  const own = given ?? value.inputParameters ?? value.input ?? {};
  const input = isObject(own) ? own : { input: own };
  return {
    reference,
    ...what,
    input,
    ...(optional ? { optional } : {}),
    ...(Object.keys(options).length > 0 ? { task: options } : {}),
  };
}

/** The task type of a branch, or the workflow that it runs. */
function whatOf(
  value: Readonly<Record<string, unknown>>,
  where: string,
): Pick<ListedBranch, 'name' | 'workflow'> {
  const type = value.type ?? 'SIMPLE';
  if (type === 'SUB_WORKFLOW' || type === 'SUB_WF') {
    const param = isObject(value.subWorkflowParam) ? value.subWorkflowParam : {};
    const { name = value.name, version, workflowDefinition } = param;
    if ((workflowDefinition ?? undefined) !== undefined) {
      const rule = 'a branch runs a registered workflow; register it and name it';
      throw new ValueError('bad_value', `${where}: workflowDefinition is not supported: ${rule}`);
    }
    const workflow = versionOf(name, asNumber(version ?? null), where);
    return { name: name as string, workflow };
  }
  const name = value.name ?? value.taskName;
  checkType(name, `${where}: name`);
  if (type !== 'SIMPLE') {
    throw new ValueError('bad_value', `${where}: type must be SIMPLE or SUB_WORKFLOW`);
  }
  return { name };
}

/** The version of a workflow that is known only at run time; 0 for the newest. */
function versionOf(name: unknown, version: unknown, where = 'forkTaskWorkflow'): number {
  checkWhich({ name: name as string, version: version as number | null }, where);
  return (version as number | null) ?? 0;
}

/** A task type that is known only at run time. */
export function checkType(name: unknown, what: string): asserts name is string {
  if (typeof name === 'string' && TASK_TYPE.test(name)) return;
  const shown = String(jsonText(name ?? null)).slice(0, SHOWN_MAX);
  const rule = 'a task type has letters, digits and . _ : - and at most 128 of them';
  throw new ValueError('bad_value', `${what} is ${shown}; ${rule}`);
}

/** Characters of a bad value in a message. */
const SHOWN_MAX = 100;

function checkList(kind: string, what: string): void {
  if (kind === 'array') return;
  throw new ValueError('bad_value', `${what} must be a list, and it is a ${kind}`);
}

function kindName(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
