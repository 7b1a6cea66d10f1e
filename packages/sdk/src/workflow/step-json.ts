import type { Step } from './reference.ts';
import { hasMarks, targetOf } from './reference-proxy.ts';
import type { Scope, StepJson } from './scope.ts';
import { StepHandle } from './step-handle.ts';

/** Adds a step, and makes what later steps use to refer to it. */
export function addStep<Output>(scope: Scope, step: StepJson): Step<Output> {
  scope.take(step.taskReferenceName);
  scope.add(step);
  return new StepHandle<Output>(step.taskReferenceName, scope);
}

/** The fields that every step has. Conductor wants a name also where it has no meaning. */
export function named(name: string, type: string): StepJson {
  return { name, taskReferenceName: name, type };
}

/** An object with references as JSON. `user` is the object in messages. */
export function fieldsJson(scope: Scope, fields: object, user: string): object {
  if (targetOf(fields) !== undefined || Array.isArray(fields)) {
    throw scope.draft.error(`${user} must be an object: { url: w.input.url }`);
  }
  return scope.json(fields, user) as object;
}

/** The script of a step, which sees values only through `$`. */
export function scriptOf(scope: Scope, source: string, name: string): string {
  if (typeof source !== 'string' || source.trim() === '') {
    throw scope.draft.error(`the script of '${name}' is empty; give it JavaScript as a text`);
  }
  if (!hasMarks(source)) return source;
  const what = `the script of '${name}' has a reference`;
  throw scope.draft.error(`${what}; pass it as input, and use $.name in the script`);
}
