/**
 * Finds comments, strings, template literals and regular expressions in TypeScript.
 *
 * TypeScript 7 has no compiler API, and the checks need only to know which characters are code.
 * What must stay true:
 *
 * 1. Blanked text has the length and the line breaks of the original, so offsets carry over.
 * 2. Code inside `${}` counts as code, because functions may stand there.
 * 3. A quote or slash without a partner on its line is text (an apostrophe in JSX), not a literal.
 */

type LiteralKind = 'comment' | 'string' | 'template' | 'regex';

/** One literal, or the part of a template literal between two `${}`. */
interface Literal {
  readonly kind: LiteralKind;
  readonly start: number;
  readonly end: number;
}

const WORDS_BEFORE_REGEX = new Set(
  'return typeof case in of do else void delete throw new await yield instanceof'.split(' '),
);
const SIGNS_BEFORE_REGEX = '(,=:[!&|?{;+-*%~^';
const QUOTES = '\'"`';

export function findLiterals(text: string): Literal[] {
  const literals: Literal[] = [];
  // One entry per open `${`: how many braces are open inside it.
  const substitutions: number[] = [];
  let offset = 0;

  while (offset < text.length) {
    const literal = literalAt({ text, offset, literals, substitutions });
    if (literal === undefined) {
      countBrace(text[offset], substitutions);
      offset++;
      continue;
    }
    if (text[offset] === '}') substitutions.pop();
    if (literal.kind === 'template' && text[literal.end - 1] === '{') substitutions.push(0);
    literals.push(literal);
    offset = literal.end;
  }
  return literals;
}

/** The text with spaces instead of literals. Quotes stay, so that a string is still visible. */
export function blankLiterals(text: string): string {
  let code = '';
  let end = 0;
  for (const literal of findLiterals(text)) {
    code += text.slice(end, literal.start) + blank(text.slice(literal.start, literal.end));
    end = literal.end;
  }
  return code + text.slice(end);
}

function blank(literal: string): string {
  const first = literal[0];
  const last = literal.at(-1) ?? '';
  const spaces = literal.replace(/[^\n]/g, ' ');
  const opening = QUOTES.includes(first) ? first : spaces[0];
  if (literal.length === 1) return opening;
  const closes = QUOTES.includes(last) && (QUOTES.includes(first) || first === '}');
  return opening + spaces.slice(1, -1) + (closes ? last : spaces.at(-1));
}

interface Position {
  readonly text: string;
  readonly offset: number;
  /** Every literal before `offset`. */
  readonly literals: readonly Literal[];
  readonly substitutions: readonly number[];
}

function literalAt(position: Position): Literal | undefined {
  const { text, offset } = position;
  const found = (kind: LiteralKind, end: number | undefined): Literal | undefined =>
    end === undefined ? undefined : { kind, start: offset, end };

  switch (text[offset]) {
    case '#':
      return offset === 0 && text[1] === '!' ? found('comment', endOfLine(text, 0)) : undefined;
    case "'":
    case '"':
      return found('string', endOfString(text, offset));
    case '`':
      return found('template', endOfTemplatePart(text, offset));
    case '}':
      if (position.substitutions.at(-1) !== 0) return undefined;
      return found('template', endOfTemplatePart(text, offset));
    case '/':
      if (text[offset + 1] === '/') return found('comment', endOfLine(text, offset));
      if (text[offset + 1] === '*') return found('comment', endOfBlockComment(text, offset));
      return regexMayStart(position) ? found('regex', endOfRegex(text, offset)) : undefined;
    default:
      return undefined;
  }
}

function countBrace(char: string, substitutions: number[]): void {
  const last = substitutions.length - 1;
  if (last < 0) return;
  if (char === '{') substitutions[last]++;
  if (char === '}') substitutions[last]--;
}

function endOfLine(text: string, offset: number): number {
  const end = text.indexOf('\n', offset);
  return end === -1 ? text.length : end;
}

function endOfBlockComment(text: string, offset: number): number {
  const end = text.indexOf('*/', offset + 2);
  return end === -1 ? text.length : end + 2;
}

function endOfString(text: string, offset: number): number | undefined {
  const quote = text[offset];
  for (let index = offset + 1; index < text.length; index++) {
    if (text[index] === '\\') index++;
    else if (text[index] === quote) return index + 1;
    else if (text[index] === '\n') return undefined;
  }
  return undefined;
}

function endOfTemplatePart(text: string, offset: number): number {
  for (let index = offset + 1; index < text.length; index++) {
    if (text[index] === '\\') index++;
    else if (text[index] === '`') return index + 1;
    else if (text.startsWith('${', index)) return index + 2;
  }
  return text.length;
}

function endOfRegex(text: string, offset: number): number | undefined {
  let inClass = false;
  for (let index = offset + 1; index < text.length; index++) {
    const char = text[index];
    if (char === '\n') return undefined;
    if (char === '\\') index++;
    else if (char === '[') inClass = true;
    else if (char === ']') inClass = false;
    else if (char === '/' && !inClass) return index + 1;
  }
  return undefined;
}

/** Tells a regular expression from a division by what precedes it. */
function regexMayStart({ text, offset, literals }: Position): boolean {
  let end = offset;
  for (let last = literals.length - 1; ; last--) {
    while (end > 0 && /\s/.test(text[end - 1])) end--;
    const literal = literals[last];
    if (literal === undefined || literal.end < end) break;
    if (literal.kind !== 'comment') return text[literal.end - 1] === '{';
    end = literal.start;
  }

  if (end === 0) return true;
  const before = text.slice(Math.max(0, end - 12), end);
  const word = /[\w$]+$/.exec(before)?.[0];
  if (word !== undefined) return WORDS_BEFORE_REGEX.has(word);
  return before.endsWith('=>') || SIGNS_BEFORE_REGEX.includes(before.at(-1) ?? '');
}
