import type { Outline } from './outline.ts';
import type { Problems } from './problems.ts';

type Inputs = Readonly<Record<string, unknown>>;

type ForkForm =
  | { readonly kind: 'items'; readonly name: unknown }
  | { readonly kind: 'tasks'; readonly tasksParam: string; readonly inputsParam: string };

/** How a FORK_JOIN_DYNAMIC says what its branches are. */
export function forkForm(step: Outline, inputs: Inputs, problems: Problems): ForkForm {
  const { value, path } = step;
  if (inputs.forkTaskInputs !== undefined) {
    checkType(step, inputs, problems);
    return { kind: 'items', name: inputs.forkTaskName ?? step.reference };
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
  const type = inputs.forkTaskType ?? 'SIMPLE';
  if (type !== 'SIMPLE') {
    problems.add(`${at}/forkTaskType`, 'bad_field', 'forkTaskType must be SIMPLE');
  }
  if (inputs.forkTaskWorkflow !== undefined) {
    problems.add(`${at}/forkTaskWorkflow`, 'bad_field', 'forkTaskWorkflow is not supported');
  }
}
