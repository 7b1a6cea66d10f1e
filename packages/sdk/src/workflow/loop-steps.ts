import type { Reference } from './reference.ts';
import { referenceTo } from './reference-proxy.ts';
import type { Scope } from './scope.ts';
import { lifted } from './step-handle.ts';
import { fieldsJson, named, scriptOf } from './step-json.ts';

/** What a loop knows of the current pass. */
export interface Iteration<Item = unknown> {
  /** Number of the pass, from 1 on. */
  readonly count: Reference<number>;
  /** The element of the list. */
  readonly item: Reference<Item>;
  /** Its index, from 0 on. */
  readonly index: Reference<number>;
}

export interface LoopOptions {
  /**
   * JavaScript that is evaluated after each pass; the loop goes on while it is true. `$` has the
   * fields of `input`, and the outputs of the steps by their names: `$.check.done !== true`.
   */
  readonly while: string;
  /** Values for the condition. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** Number of passes whose outputs are kept. Default: all. */
  readonly keepLastN?: number;
}

export type LoopOverOptions = Partial<LoopOptions>;

interface Loop extends LoopOverOptions {
  readonly name: string;
  readonly over?: unknown;
  /** Adds the steps of a pass. */
  readonly body: (scope: Scope, iteration: Iteration) => unknown;
}

/** DO_WHILE. Without a list it has at least one pass, so its steps surely ran. */
export function addLoop(scope: Scope, loop: Loop): unknown {
  const { name, over, input = {}, keepLastN } = loop;
  scope.take(name);
  const isList = over !== undefined;
  const parameters = { ...input, ...(keepLastN === undefined ? {} : { keepLastN }) };
  const inputParameters = fieldsJson(scope, parameters, `the input of '${name}'`);
  const items = isList ? { items: scope.json(over, `the list of '${name}'`) } : {};
  const build = (inner: Scope) => loop.body(inner, iterationOf(name, inner));
  const inner = scope.inside(`the loop '${name}'`, build);
  const { steps } = inner.scope;
  if (steps.length === 0) throw scope.draft.error(`the loop '${name}' has no step`);
  scope.add({
    ...named(name, 'DO_WHILE'),
    inputParameters,
    loopCondition: loop.while === undefined ? '' : scriptOf(scope, loop.while, name),
    ...items,
    loopOver: steps,
  });
  if (isList) return lifted(inner.result, scope);
  inner.scope.join();
  return inner.result;
}

function iterationOf(name: string, scope: Scope): Iteration {
  const field = (path: string): unknown => {
    return referenceTo({ scope, step: name, path: `${name}.output.${path}` });
  };
  return {
    count: field('iteration') as Reference<number>,
    item: field('loopItem') as Reference<unknown>,
    index: field('loopIndex') as Reference<number>,
  };
}
