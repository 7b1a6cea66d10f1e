import type { ModelDefinition, ModelStep } from './model-steps.ts';

/** The one workflow that branches of random definitions run, and its name. */
export const BRANCH_WORKFLOW = 'branch';
export const BRANCH_DEFINITION: ModelDefinition = {
  tasks: [
    { name: 't0', taskReferenceName: 'inner', inputParameters: { a: '${workflow.input.a}' } },
  ],
  outputParameters: { got: '${inner.output}' },
};

export function runsWorkflow({ type }: ModelStep): boolean {
  return type === 'SUB_WORKFLOW';
}

export function isDynamicFork({ type }: ModelStep): boolean {
  return type === 'FORK_JOIN_DYNAMIC';
}

interface ModelBranch {
  readonly step: ModelStep;
  readonly input: unknown;
}

/** The branches of a dynamic fork; undefined when its inputs do not say what they are. */
export function branchesOf(
  fork: ModelStep,
  input: Readonly<Record<string, unknown>>,
  isOnly: boolean,
): ModelBranch[] | undefined {
  const { optional = false, permissive = false } = fork;
  const { forkTaskInputs: items, forkTaskWorkflow: workflow } = input;
  const name = workflow ?? input.forkTaskName;
  const type = workflow === undefined ? {} : { type: 'SUB_WORKFLOW' };
  if ('forkTaskInputs' in input) {
    if (!Array.isArray(items)) return undefined;
    const prefix = isOnly ? `_${name}_` : `_${fork.taskReferenceName}_${name}_`;
    const own = { ...type, name: String(name), optional, permissive };
    return items.map((item, index) => ({
      step: { taskReferenceName: `${prefix}${index}`, ...own },
      input: {
        ...(isPlain(item) ? item : { input: item }),
        __index: index,
      },
    }));
  }
  const listed = input[fork.dynamicForkTasksParam ?? ''];
  const inputs = input[fork.dynamicForkTasksInputParamName ?? ''];
  if (!Array.isArray(listed) || !isPlain(inputs)) return undefined;
  return listed.map((each: ModelStep) => ({
    step: { ...each, optional: optional || each.optional === true, permissive },
    input: inputs[each.taskReferenceName] ?? {},
  }));
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
