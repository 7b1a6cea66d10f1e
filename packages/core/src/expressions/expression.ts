/**
 * Expressions in the texts of a definition: `${root.path}`.
 *
 *     text = { char | '$${' | '${' path '}' }
 *     path = root { '.' name | "['" chars "']" | '[' int ']' | '[*]' } [ '.length()' ]
 *     root = 'workflow' | reference
 *
 * `$${` stands for a literal `${`. A text that is one expression keeps the type of its value.
 */
export interface Expression {
  /** `workflow`, or the reference of a step. */
  readonly root: string;
  readonly path: readonly PathStep[];
  /** Whether the length of the value is asked for. */
  readonly isLength: boolean;
  /** As it was written, without the braces. */
  readonly source: string;
}

export type PathStep =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'all' };

/** Literal texts and expressions in turn. */
export type TextPart = string | Expression;

export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
}

const NAME = /^[^.[\]{}$'"\s()*?@,:]+/;
const INDEX = /^\[(-?\d{1,9})\]/;
const QUOTED = /^\[(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\]/;

/** Splits a text into literals and expressions. Throws an `ExpressionError`. */
export function parseText(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let literal = '';
  for (let at = 0; at < text.length; ) {
    if (text.startsWith('$${', at)) {
      literal += '${';
      at += 3;
    } else if (text.startsWith('${', at)) {
      const end = endOfExpression(text, at + 2);
      if (literal !== '') parts.push(literal);
      literal = '';
      parts.push(parseExpression(text.slice(at + 2, end)));
      at = end + 1;
    } else {
      literal += text[at];
      at += 1;
    }
  }
  if (literal !== '' || parts.length === 0) parts.push(literal);
  return parts;
}

/** A brace inside quotes does not end an expression. */
function endOfExpression(text: string, from: number): number {
  let quote = '';
  for (let at = from; at < text.length; at++) {
    const char = text[at];
    if (quote !== '') {
      if (char === '\\') at += 1;
      else if (char === quote) quote = '';
    } else if (char === "'" || char === '"') quote = char;
    else if (char === '}') return at;
    else if (text.startsWith('${', at)) {
      throw new ExpressionError(
        `"${text.slice(from - 2)}" has an expression inside an expression, which is not supported`,
      );
    }
  }
  throw new ExpressionError(`"${text.slice(from - 2)}" has no closing brace`);
}

function parseExpression(source: string): Expression {
  const trimmed = source.trim();
  const root = NAME.exec(trimmed)?.[0];
  if (root === undefined) {
    throw new ExpressionError(
      `"\${${source}}" must begin with "workflow" or the reference of a step`,
    );
  }
  let rest = trimmed.slice(root.length);
  const isLength = rest.endsWith('.length()');
  if (isLength) rest = rest.slice(0, -'.length()'.length);
  const path: PathStep[] = [];
  while (rest !== '') {
    const [step, length] = nextStep(rest, source);
    path.push(step);
    rest = rest.slice(length);
  }
  return { root, path, isLength, source: trimmed };
}

function nextStep(rest: string, source: string): [PathStep, number] {
  if (rest.startsWith('[*]')) return [{ kind: 'all' }, 3];
  const index = INDEX.exec(rest);
  if (index !== null) return [{ kind: 'index', index: Number(index[1]) }, index[0].length];
  const quoted = QUOTED.exec(rest);
  if (quoted !== null) {
    const name = (quoted[1] ?? quoted[2]).replaceAll(/\\(.)/g, '$1');
    return [{ kind: 'name', name }, quoted[0].length];
  }
  const name = rest.startsWith('.') ? NAME.exec(rest.slice(1))?.[0] : undefined;
  if (name !== undefined) return [{ kind: 'name', name }, name.length + 1];
  throw new ExpressionError(
    `"\${${source}}" cannot be read from "${rest}" on; a path has .name, ['name'], [2], [-1], ` +
      '[*] and, at its end, .length()',
  );
}
