import type { Reference, Step } from './reference.ts';
import { referenceTo, targetOf } from './reference-proxy.ts';
import type { Scope } from './scope.ts';

/** A step that was added to a workflow. */
export class StepHandle<Output> implements Step<Output> {
  readonly name: string;
  readonly output: Reference<Output>;
  readonly status: Reference<string>;
  readonly taskId: Reference<string | null>;

  /** In `scope` and the scopes inside it, the step may be referred to. */
  constructor(name: string, scope: Scope) {
    const field = (path: string): unknown => {
      return referenceTo({ scope, step: name, path: `${name}.${path}` });
    };
    this.name = name;
    this.output = field('output') as Reference<Output>;
    this.status = field('status') as Reference<string>;
    this.taskId = field('taskId') as Reference<string | null>;
  }

  /** The same step, to be used in another scope. */
  inScope(scope: Scope): StepHandle<Output> {
    return new StepHandle(this.name, scope);
  }

  /** A step is no value: without this, all its fields would get into the input of another one. */
  toJSON(): never {
    throw new TypeError(`the step '${this.name}' is used as a value; use its .output`);
  }
}

/** The same step, reference or object of them, to be used in another scope. */
export function lifted(value: unknown, scope: Scope): unknown {
  const one = liftedOne(value, scope);
  if (one !== undefined || typeof value !== 'object' || value === null) return one;
  const entries = Object.entries(value).map(([name, part]) => [name, liftedOne(part, scope)]);
  return Object.fromEntries(entries);
}

function liftedOne(value: unknown, scope: Scope): unknown {
  if (value instanceof StepHandle) return value.inScope(scope);
  const target = targetOf(value);
  return target === undefined ? undefined : referenceTo({ ...target, scope });
}
