import type { ListedBranch } from '../../decision/runs/branches.ts';
import type { OpenList } from '../../decision/runs/open-lists.ts';
import { jsonText, ValueError } from '../../expressions/json-writer.ts';
import type { Template } from '../../expressions/template.ts';
import { asNumber } from '../../workflow/fork-form.ts';
import { isObject, Problems } from '../../workflow/problems.ts';
import { BRANCHES_MAX, type ForkOverTasks } from '../../workflow/program.ts';
import { conductorOptions } from '../../workflow/step-task.ts';
import { NOTHING, type StepVisit } from '../runs/end-steps.ts';
import { checkList, checkType, kindName, versionOf } from './fork-checks.ts';
import type { ForkList } from './fork-steps.ts';

/**
 * Reads the list of a dynamic fork in which each branch says what it is.
 *
 * Ten thousand branches with their inputs take tens of milliseconds to read, so they are read in
 * parts, and a command does as many as its budget has room for. All expressions are evaluated in
 * the first part. What is read so far is volatile: after a restart it is read again.
 */

/** Branches of one part. */
const PART = 250;
/** To check this many branches takes as long as a step. */
const BRANCHES_PER_UNIT = 10;

/** Undefined when there is more to read. */
export function taskList(at: StepVisit, fork: ForkOverTasks): ForkList | undefined {
  const { openLists } = at.decision.runWork;
  const number = at.decision.state.runs.table.number[at.run];
  const known = openLists.find(at.step, number);
  // An error ends the step, or asks for values that come later.
  openLists.forget(at.step);
  if (known === undefined) {
    const open = begin(at, fork);
    if (openLists.keep(at.step, open)) return undefined;
    let list: ForkList | undefined;
    while (list === undefined) list = goOn(at, fork, open);
    return list;
  }
  const list = goOn(at, fork, known);
  if (list === undefined) openLists.keep(at.step, known);
  return list;
}

function begin(at: StepVisit, fork: ForkOverTasks): OpenList {
  return {
    run: at.decision.state.runs.table.number[at.run],
    tasksText: textOf(at, fork.tasks),
    inputsText: fork.inputs === undefined ? '{}' : textOf(at, fork.inputs),
    tasks: undefined,
    inputs: undefined,
    branches: [],
    used: new Set(at.program.byReference.keys()),
  };
}

function textOf(at: StepVisit, template: Template): string {
  const { list, utf8, filler, values } = at.decision.runWork;
  list.clear();
  filler.fill(template, (part) => values.find(at, part), list);
  at.decision.runWork.spendBytes(list.length);
  return utf8.decode(list.bytes.subarray(0, list.length));
}

/** Reads one part. */
function goOn(at: StepVisit, fork: ForkOverTasks, open: OpenList): ForkList | undefined {
  const { runWork } = at.decision;
  const { tasksParam, inputsParam } = fork;
  if (open.tasks === undefined) {
    runWork.spendBytes(open.tasksText.length);
    const found: unknown = JSON.parse(open.tasksText);
    const listed = isObject(found) ? found.dynamicTasks : found;
    if (!Array.isArray(listed)) checkList(kindName(listed), tasksParam);
    open.tasks = listed as readonly unknown[];
    return undefined;
  }
  if (open.inputs === undefined) {
    runWork.spendBytes(open.inputsText.length);
    const inputs: unknown = JSON.parse(open.inputsText);
    if (!isObject(inputs)) {
      const what = `${inputsParam} must be an object with the inputs by reference`;
      throw new ValueError('bad_value', `${what}, and it is a ${kindName(inputs)}`);
    }
    open.inputs = inputs;
    return undefined;
  }
  const { length } = open.tasks;
  // The caller refuses a list that is too long.
  if (length > BRANCHES_MAX) return { input: NOTHING, count: length, tasks: 0 };
  const { branches } = open;
  if (branches.length < length) {
    const end = Math.min(length, branches.length + PART);
    runWork.spend(Math.floor((end - branches.length) / BRANCHES_PER_UNIT));
    while (branches.length < end) addBranch(open, tasksParam);
    return undefined;
  }
  const { list, utf8 } = runWork;
  list.clear();
  list.copy(utf8.encode(jsonText({ branches })));
  const tasks = branches.filter(({ workflow }) => workflow === undefined).length;
  const input = { bytes: list.bytes, start: 0, end: list.length };
  return { input, count: length, tasks };
}

function addBranch({ tasks, inputs, branches, used }: OpenList, tasksParam: string): void {
  const index = branches.length;
  const branch = branchOf(tasks?.[index], `${tasksParam}[${index}]`, inputs ?? {});
  if (used.has(branch.reference)) {
    const what = `the reference "${branch.reference}" is used already`;
    throw new ValueError('bad_value', `${tasksParam}[${index}]: ${what}`);
  }
  used.add(branch.reference);
  branches.push(branch);
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
