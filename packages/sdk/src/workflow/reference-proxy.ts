import type { Scope } from './scope.ts';

/** What a reference stands for. */
export interface Target {
  /** Where it may be used: in this scope, and in the scopes inside. */
  readonly scope: Scope;
  /** The step; empty for the input and the variables of the workflow. */
  readonly step: string;
  /** The expression without its braces, such as `charge.output.receipt`. */
  readonly path: string;
}

const TARGET = Symbol('target');

/** A name that a path can hold without quotes. */
const NAME = /^[^.[\]{}$'"\s()*?@,:]+$/;

const INDEX = /^(?:0|[1-9]\d{0,8})$/;

/**
 * The form of references inside texts while a workflow is built: numbers between two characters
 * that no text has.
 */
const OPEN = '\u{F5A1E}';
const CLOSE = '\u{F5A1F}';
const MARK = new RegExp(`${OPEN}(\\d+)\\.(\\d+)${CLOSE}`, 'gu');

/** What is left of a mark when code has changed the text. */
const BROKEN = new RegExp(`[${OPEN}${CLOSE}]|${encodeURIComponent(OPEN)}`, 'iu');

/** Makes the object that stands for a value. Its fields stand for the fields of the value. */
export function referenceTo(target: Target): unknown {
  return new Proxy(Object.freeze({}), {
    get: (_, name) => {
      if (name === TARGET) return target;
      if (name === Symbol.toPrimitive) return (hint: string) => textOf(target, hint);
      if (name === 'toJSON' || name === 'toString') return () => textOf(target, 'string');
      // A promise would be awaited; a reference is none.
      if (typeof name === 'symbol' || name === 'then') return undefined;
      return referenceTo({ ...target, path: fieldPath(target.path, name) });
    },
    set: () => {
      throw new TypeError(`\${${target.path}} cannot be changed; use w.set for variables`);
    },
    ownKeys: () => {
      const what = `\${${target.path}} is not known yet, so its fields cannot be copied`;
      throw new TypeError(`${what}; name each field: { url: w.input.url }`);
    },
  });
}

/** What the reference stands for; undefined for any other value. */
export function targetOf(value: unknown): Target | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  return (value as { readonly [TARGET]?: Target })[TARGET];
}

/** The path of a field, or of an element. */
export function fieldPath(path: string, name: string): string {
  if (path.endsWith('.length()')) throw new TypeError(`\${${path}} is a number and has no fields`);
  if (INDEX.test(name)) return `${path}[${name}]`;
  if (NAME.test(name)) return `${path}.${name}`;
  return `${path}['${name.replaceAll(/['\\]/g, '\\$&')}']`;
}

function textOf(target: Target, hint: string): string {
  if (hint === 'number') {
    const what = `\${${target.path}} is known only when the run gets there`;
    throw new TypeError(`${what}; compare it in a handler, or use w.switch`);
  }
  const { draft } = target.scope;
  draft.targets.push(target);
  return `${OPEN}${draft.number}.${draft.targets.length - 1}${CLOSE}`;
}

/**
 * Replaces the marks in a text by expressions. Any other `${` stays literal. `find` returns the
 * path of the target behind a mark, or throws when it may not be used.
 */
export function expressionsIn(
  text: string,
  find: (draft: number, place: number) => string,
): string {
  let from = 0;
  let made = '';
  for (const mark of text.matchAll(MARK)) {
    const before = text.slice(from, mark.index);
    const path = find(Number(mark[1]), Number(mark[2]));
    if (before.endsWith('$')) {
      const what = `a text has a $ right before \${${path}}, which would make it literal`;
      throw new TypeError(`${what}; put something between them`);
    }
    made += `${escaped(before)}\${${path}}`;
    from = mark.index + mark[0].length;
  }
  return made + escaped(text.slice(from));
}

function escaped(text: string): string {
  if (BROKEN.test(text)) {
    throw new TypeError('a text with a reference was cut or encoded; do that in a handler');
  }
  return text.replaceAll('${', '$$$${');
}

/** Whether a text has references in it. */
export function hasMarks(text: string): boolean {
  return text.search(MARK) >= 0;
}
