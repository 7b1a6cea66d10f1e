import { isExpression, wrongFields } from './child-fields.ts';
import type { Outline } from './outline.ts';
import type { Problems } from './problems.ts';

type Inputs = Readonly<Record<string, unknown>>;

type ForkForm =
  | {
      readonly kind: 'items';
      /** The task type, or the workflow when there is a version. */
      readonly name: unknown;
      /** Of the workflow that each branch runs, null for the newest; undefined for tasks. */
      readonly version: unknown;
    }
  | { readonly kind: 'tasks'; readonly tasksParam: string; readonly inputsParam: string };

/** How a FORK_JOIN_DYNAMIC says what its branches are. */
export function forkForm(step: Outline, inputs: Inputs, problems: Problems): ForkForm {
  const { value, path } = step;
  if (inputs.forkTaskInputs !== undefined) {
    checkType(step, inputs, problems);
    const { forkTaskWorkflow: workflow, forkTaskWorkflowVersion = null } = inputs;
    if ((workflow ?? undefined) !== undefined) {
      const version = asNumber(forkTaskWorkflowVersion);
      checkWorkflow(step, { name: workflow, version }, problems);
      return { kind: 'items', name: workflow, version };
    }
    return { kind: 'items', name: inputs.forkTaskName ?? step.reference, version: undefined };
  }
  const isListed = value.dynamicForkTasksParam !== undefined;
  const field = isListed ? 'dynamicForkTasksParam' : 'dynamicForkJoinTasksParam';
  const none = { kind: 'tasks', tasksParam: '', inputsParam: '' } as const;
  if (!isListed && value.dynamicForkJoinTasksParam === undefined) {
    const forms = 'forkTaskInputs (a list: a branch for each item) with forkTaskName';
    const what = `a FORK_JOIN_DYNAMIC needs ${forms}, or dynamicForkTasksParam`;
    problems.add(`${path}/inputParameters/forkTaskInputs`, 'missing_field', what);
    return none;
  }
  const tasksParam = inputName(step, field, inputs, problems);
  if (!isListed) return { ...none, tasksParam };
  return { ...none, tasksParam, inputsParam: inputsOf(step, inputs, problems) };
}

function inputsOf(step: Outline, inputs: Inputs, problems: Problems): string {
  const isStated = step.value.dynamicForkTasksInputParamName !== undefined;
  return isStated ? inputName(step, 'dynamicForkTasksInputParamName', inputs, problems) : '';
}

/** A field that is the name of an input. */
function inputName(step: Outline, field: string, inputs: Inputs, problems: Problems): string {
  const name = problems.text(step, field);
  if (name !== '' && inputs[name] === undefined) {
    const what = `${field} must be the name of an input; "${name}" is not in inputParameters`;
    problems.add(`${step.path}/${field}`, 'bad_field', what);
  }
  return name;
}

function checkType({ path }: Outline, inputs: Inputs, problems: Problems): void {
  const at = `${path}/inputParameters`;
  const hasWorkflow = (inputs.forkTaskWorkflow ?? undefined) !== undefined;
  const type = inputs.forkTaskType ?? (hasWorkflow ? 'SUB_WORKFLOW' : 'SIMPLE');
  if (type === 'SUB_WORKFLOW' && !hasWorkflow) {
    const what = 'a fork of SUB_WORKFLOWs needs forkTaskWorkflow: the name of a workflow';
    problems.add(`${at}/forkTaskWorkflow`, 'missing_field', what);
  } else if (type !== (hasWorkflow ? 'SUB_WORKFLOW' : 'SIMPLE')) {
    const what = 'forkTaskType must be SIMPLE, or SUB_WORKFLOW with forkTaskWorkflow';
    problems.add(`${at}/forkTaskType`, 'bad_field', what);
  }
}

function checkWorkflow({ path }: Outline, which: Inputs, problems: Problems): void {
  const stated = Object.entries(which).filter(([, value]) => !isExpression(value));
  for (const { name, message } of wrongFields(Object.fromEntries(stated))) {
    const field = name === 'name' ? 'forkTaskWorkflow' : 'forkTaskWorkflowVersion';
    problems.add(`${path}/inputParameters/${field}`, 'bad_field', `${field}: ${message}`);
  }
}

/** Conductor takes versions as text, too. */
export function asNumber(version: unknown): unknown {
  return typeof version === 'string' && /^\d{1,9}$/.test(version) ? Number(version) : version;
}
