import type { Step } from './reference.ts';
import { targetOf } from './reference-proxy.ts';
import type { Scope, StepJson } from './scope.ts';
import { lifted } from './step-handle.ts';
import { addStep, fieldsJson, named, scriptOf } from './step-json.ts';
import type { WorkflowBuilder } from './workflow-builder.ts';

/** Adds the steps of a branch, a case or a loop. */
export type Build<Input, Variables, Result, Extra = never> = (
  w: WorkflowBuilder<Input, Variables>,
  extra: Extra,
) => Result;

/** Builds a list of steps in a scope, with a builder for that scope. */
type BuildIn = (scope: Scope) => unknown;

export type BuildAll = Readonly<Record<string, BuildIn>>;

/** The texts by which a SWITCH compares values. */
export type CaseNames<Value> = Value extends string | number | boolean | null ? `${Value}` : never;

/** FORK_JOIN, and the JOIN that waits for all branches. */
export function addFork(scope: Scope, branches: BuildAll, name: string): object {
  scope.take(name);
  const built = Object.entries(branches).map(([branch, build]) => {
    const label = `branch '${branch}' of '${name}'`;
    const inner = scope.inside(label, build);
    if (inner.scope.steps.length > 0) return { branch, ...inner };
    throw scope.draft.error(`${label} has no step; use w.noop()`);
  });
  if (built.length === 0) throw scope.draft.error(`'${name}' has no branch`);
  const forkTasks = built.map((inner) => inner.scope.steps);
  scope.add({ ...named(name, 'FORK_JOIN'), forkTasks });
  // An empty list would mean all branches here, and none for Conductor.
  const joinOn = forkTasks.map((steps) => (steps.at(-1) as StepJson).taskReferenceName);
  addStep(scope, { ...named(`${name}-join`, 'JOIN'), joinOn });
  for (const inner of built) inner.scope.join();
  return Object.fromEntries(built.map(({ branch, result }) => [branch, result]));
}

/** What a SWITCH compares with the names of its cases: a value, or what a script gives. */
type Decided = { readonly value: unknown } | { readonly script: string; readonly input: object };

export interface Decision {
  readonly by: Decided;
  readonly cases: BuildAll;
  readonly otherwise: BuildIn;
}

/** SWITCH. */
export function addSwitch(scope: Scope, name: string, decision: Decision): object {
  const { cases, otherwise } = decision;
  scope.take(name);
  scope.draft.hasSwitch = true;
  const built = Object.entries(cases).map(([match, build]) => {
    const inner = scope.inside(`case '${match}' of '${name}'`, build);
    return { match, steps: inner.scope.steps, result: inner.result };
  });
  if (built.length === 0) throw scope.draft.error(`'${name}' has no case`);
  const label = `the case otherwise of '${name}'`;
  const other = scope.inside(label, otherwise);
  scope.add({
    ...named(name, 'SWITCH'),
    ...decidedJson(scope, decision.by, name),
    decisionCases: Object.fromEntries(built.map(({ match, steps }) => [match, steps])),
    defaultCase: other.scope.steps,
  });
  const results = built.map(({ match, result }) => [match, lifted(result, scope)]);
  return { otherwise: lifted(other.result, scope), ...Object.fromEntries(results) };
}

/** EXCLUSIVE_JOIN. */
export function addFirstOf<Output>(
  scope: Scope,
  name: string,
  steps: readonly Pick<Step, 'output'>[],
): Step<Output> {
  if (steps.length === 0) throw scope.draft.error(`'${name}' needs a step that it can take`);
  // A step of another branch is refused as a reference to its output would be.
  for (const step of steps) scope.json(step.output, `the steps of '${name}'`);
  const joinOn = steps.map((step) => targetOf(step.output)?.step);
  return addStep(scope, { ...named(name, 'EXCLUSIVE_JOIN'), joinOn });
}

function decidedJson(scope: Scope, by: Decided, name: string): object {
  if ('value' in by) {
    return {
      evaluatorType: 'value-param',
      expression: 'value',
      inputParameters: scope.json({ value: by.value }, `the value of '${name}'`),
    };
  }
  return {
    evaluatorType: 'javascript',
    expression: scriptOf(scope, by.script, name),
    inputParameters: fieldsJson(scope, by.input, `the input of '${name}'`),
  };
}
