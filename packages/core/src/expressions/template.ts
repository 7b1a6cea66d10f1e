import type { Utf8 } from '../base/utf8.ts';
import { type Expression, parseText } from './expression.ts';
import { type JsonRange, kindOf } from './json-bytes.ts';
import { JsonWriter } from './json-writer.ts';
import { writePath } from './path.ts';

/**
 * A JSON value with expressions in its texts, compiled once: literal bytes, and expressions that
 * stand for a whole value or for a part of a string.
 */
export interface Template {
  readonly parts: readonly TemplatePart[];
}

type TemplatePart = Uint8Array | ValuePart;

export interface ValuePart {
  readonly expression: Expression;
  /** The names of its path in UTF-8; empty for other steps of the path. */
  readonly names: readonly Uint8Array[];
  /** False inside a string. */
  readonly isWhole: boolean;
}

/** Where an expression begins to look. */
export interface FoundSource {
  readonly range: JsonRange;
  /** Number of path steps that led here. */
  readonly used: number;
  /** Whether it is the value itself, also of an expression that asks for a length. */
  readonly isFinal?: boolean;
}

/** Finds the payload that an expression names; undefined when there is none. */
export type FindSource = (part: ValuePart) => FoundSource | undefined;

/** Compiles a parsed JSON value. Throws an `ExpressionError` for a text that cannot be read. */
export function compileTemplate(value: unknown, utf8: Utf8): Template {
  const whole = JSON.stringify(value ?? null);
  // Most of a large definition is plain data, such as the inputs of thousands of branches.
  if (!whole.includes('$')) return { parts: [utf8.encode(whole)] };
  const parts: TemplatePart[] = [];
  let literal = '';
  const flush = (): void => {
    if (literal !== '') parts.push(utf8.encode(literal));
    literal = '';
  };
  const add = (expression: Expression, isWhole: boolean): void => {
    flush();
    parts.push(valuePart(expression, isWhole, utf8));
  };
  const text = (given: string): void => {
    const found = parseText(given);
    const [only] = found;
    if (found.length === 1 && typeof only !== 'string') return add(only, true);
    literal += '"';
    for (const part of found) {
      if (typeof part === 'string') literal += JSON.stringify(part).slice(1, -1);
      else add(part, false);
    }
    literal += '"';
  };
  const walk = (each: unknown): void => {
    if (typeof each === 'string') text(each);
    else if (Array.isArray(each)) {
      literal += '[';
      each.forEach((element, index) => {
        if (index > 0) literal += ',';
        walk(element);
      });
      literal += ']';
    } else if (typeof each === 'object' && each !== null) {
      literal += '{';
      Object.entries(each).forEach(([name, member], index) => {
        literal += `${index > 0 ? ',' : ''}${JSON.stringify(name)}:`;
        walk(member);
      });
      literal += '}';
    } else literal += JSON.stringify(each ?? null);
  };
  walk(value);
  flush();
  return { parts };
}

export function valuePart(expression: Expression, isWhole: boolean, utf8: Utf8): ValuePart {
  const names = expression.path.map((step) =>
    step.kind === 'name' ? utf8.encode(step.name) : NOTHING,
  );
  return { expression, names, isWhole };
}

const NOTHING = new Uint8Array(0);

/** Fills templates with values. Its memory is reused, so a result is valid until the next one. */
export class TemplateFiller {
  private readonly utf8: Utf8;
  private readonly inner = new JsonWriter();

  constructor(utf8: Utf8) {
    this.utf8 = utf8;
  }

  /** Appends the filled template. A missing value is null. Throws a `ValueError`. */
  fill(template: Template, find: FindSource, into: JsonWriter): void {
    for (const part of template.parts) {
      if (part instanceof Uint8Array) into.copy(part);
      else if (part.isWhole) this.write(part, find, into);
      else this.interpolate(part, find, into);
    }
  }

  /** Appends the value of one expression. */
  write(part: ValuePart, find: FindSource, into: JsonWriter): void {
    writePath(find(part), part, { utf8: this.utf8, into });
  }

  private interpolate(part: ValuePart, find: FindSource, into: JsonWriter): void {
    const { inner } = this;
    inner.clear();
    this.write(part, find, inner);
    const range = { bytes: inner.bytes, start: 0, end: inner.length };
    // The content of a string is escaped already; anything else appears as JSON.
    if (kindOf(range) === 'string') into.copy(inner.bytes, 1, inner.length - 1);
    else into.escaped(inner.bytes, 0, inner.length);
  }
}
