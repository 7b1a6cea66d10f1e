import { messageOf } from '../base/shown-value.ts';
import { expressionsIn, hasMarks, type Target } from './reference-proxy.ts';
import type { AnyWorkflow } from './workflow.ts';

/** A step in the form of Conductor. */
export type StepJson = Readonly<Record<string, unknown>> & { readonly taskReferenceName: string };

const NAME = /^[^.[\]{}$'"\s()*?@,:/~]{1,128}$/;

let drafts = 0;

/** A workflow while it is built: what all its lists of steps share. */
export class Draft {
  readonly workflow: string;
  /** Distinguishes workflows that are built in one process. */
  readonly number: number;
  /** Targets of references that were put into texts; texts hold their indexes. */
  readonly targets: Target[] = [];
  /** A step so far decides between paths. */
  hasSwitch = false;
  /** Workflows that its runs start. */
  readonly uses = new Set<AnyWorkflow>();
  /** Where each name is used. */
  private readonly places = new Map<string, string>();

  constructor(workflow: string) {
    drafts += 1;
    this.number = drafts;
    this.workflow = workflow;
  }

  take(name: string, place: string): void {
    const before = this.places.get(name);
    if (before !== undefined) {
      const what = `the name '${name}' is used twice: by ${before}, and by ${place}`;
      throw this.error(`${what}; give each step another name`);
    }
    if (!NAME.test(name) || name === 'workflow' || name.includes('__')) {
      const rule =
        'use 1 to 128 characters, no space, no __, none of . [ ] { } $ \' " ( ) * ? @ , : / ~, ' +
        "and not 'workflow'";
      throw this.error(`'${name}' cannot be the name of ${place}: ${rule}`);
    }
    this.places.set(name, place);
  }

  /** A name for a step that was given none. */
  freeName(kind: string): string {
    let number = 1;
    while (this.places.has(`${kind}-${number}`)) number += 1;
    return `${kind}-${number}`;
  }

  placeOf(name: string): string {
    return this.places.get(name) ?? `'${name}'`;
  }

  error(problem: string): TypeError {
    return new TypeError(`workflow '${this.workflow}': ${problem}`);
  }
}

/**
 * A list of steps while it is built: the workflow itself, a branch, a case or a loop.
 *
 * Inside, everything is visible that came before. From outside, only what surely ran: the steps of
 * a branch after the join, but not those of a case.
 */
export class Scope {
  readonly draft: Draft;
  readonly steps: StepJson[] = [];
  private readonly outer: Scope | undefined;
  private readonly label: string;
  /** The list inside this one that is being built. */
  private inner: Scope | undefined;
  private isClosed = false;
  /** Its steps surely ran before the outer list goes on; set by `join`. */
  private isJoined = false;

  constructor(draft: Draft, label: string, outer?: Scope) {
    this.draft = draft;
    this.label = label;
    this.outer = outer;
  }

  /** The next step has this name. A step with others inside takes its name before them. */
  take(name: string): void {
    const { draft, steps } = this;
    this.checkOpen(`step '${name}'`);
    const last = steps.at(-1);
    if (last?.type === 'TERMINATE') {
      const by = draft.placeOf(last.taskReferenceName);
      throw draft.error(`step '${name}' is never reached, because ${by} ends the run`);
    }
    draft.take(name, `step '${name}' (step ${steps.length + 1} of ${this.label})`);
  }

  /** Adds a step whose name is taken. */
  add(step: StepJson): void {
    this.steps.push(step);
  }

  /** Builds a list of steps inside this one. */
  inside<T>(label: string, build: (scope: Scope) => T): { scope: Scope; result: T } {
    this.checkOpen(label);
    const scope = new Scope(this.draft, label, this);
    this.inner = scope;
    try {
      return { scope, result: scope.complete(build(scope)) };
    } finally {
      scope.isClosed = true;
      this.inner = undefined;
    }
  }

  /** From here on, the outer list knows that the steps of this one ran. */
  join(): void {
    this.isJoined = true;
  }

  /** No step can be added any more. `made` is what built the list. */
  complete<T>(made: T): T {
    this.isClosed = true;
    if (!isPromise(made)) return made;
    throw this.draft.error(`${this.label} is built by an async function; build it without await`);
  }

  /** Values as JSON in which expressions stand for references. */
  json(value: unknown, user: string): unknown {
    const text = this.written(user, () =>
      JSON.stringify(value, (name, part: unknown) => {
        if (hasMarks(name)) throw new TypeError('a reference cannot be the name of a field');
        if (typeof part === 'function') throw new TypeError(`'${name}' is a function`);
        if (typeof part !== 'string') return part;
        return expressionsIn(part, (draft, place) => this.pathOf(draft, place));
      }),
    );
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  }

  /** Values as JSON, without references. */
  plain(value: unknown, user: string): unknown {
    const text = this.written(user, () =>
      JSON.stringify(value, (name, part: unknown) => {
        if (!hasMarks(name) && (typeof part !== 'string' || !hasMarks(part))) return part;
        throw new TypeError('it has a reference, which is not known at the start of a run');
      }),
    );
    return text === undefined ? undefined : (JSON.parse(text) as unknown);
  }

  private written<T>(user: string, write: () => T): T {
    try {
      return write();
    } catch (cause) {
      throw this.draft.error(`${user}: ${messageOf(cause)}`);
    }
  }

  private pathOf(number: number, place: number): string {
    const target = this.draft.targets[place];
    if (number !== this.draft.number || target === undefined) {
      throw new TypeError('it uses a reference of another workflow; pass the value as input');
    }
    this.checkVisible(target);
    return target.path;
  }

  private checkVisible({ scope, step, path }: Target): void {
    let from = scope;
    while (from.isJoined && from.outer !== undefined) from = from.outer;
    if (this.isInside(from)) return;
    const what = `\${${path}} is not known in ${this.label}`;
    const by = `it belongs to ${this.draft.placeOf(step)}, which may not have run yet, or not at all`;
    throw new TypeError(`${what}: ${by}; return it from ${scope.label}`);
  }

  private isInside(scope: Scope): boolean {
    for (let at: Scope | undefined = this; at !== undefined; at = at.outer) {
      if (at === scope) return true;
    }
    return false;
  }

  private checkOpen(what: string): void {
    if (this.isClosed) {
      throw this.draft.error(`${what} is added to ${this.label}, which is already complete`);
    }
    if (this.inner !== undefined) {
      const { label } = this.inner;
      const where = `${what} is added to ${this.label} inside ${label}`;
      throw this.draft.error(`${where}; use the builder that ${label} gets`);
    }
  }
}

function isPromise(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as { readonly then?: unknown }).then === 'function'
  );
}
