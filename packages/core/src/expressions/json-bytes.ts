/**
 * Reads values inside a JSON text without parsing the whole: expressions look up a few paths in
 * payloads that may be large.
 *
 * The bytes are a valid JSON text. The server checked it when it came in.
 */
import type { Utf8 } from '../base/utf8.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

/** A value inside a JSON text. */
export interface JsonRange {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

export function kindOf({ bytes, start }: JsonRange): JsonKind {
  switch (bytes[start]) {
    case OPEN_OBJECT:
      return 'object';
    case OPEN_ARRAY:
      return 'array';
    case QUOTE:
      return 'string';
    case 0x74:
    case 0x66:
      return 'boolean';
    case 0x6e:
      return 'null';
    default:
      return 'number';
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function skipSpace(bytes: Uint8Array, at: number): number {
  let next = at;
  while (isSpace(bytes[next])) next += 1;
  return next;
}

/** Where the value that begins at `at` ends. */
function endOfValue(bytes: Uint8Array, at: number): number {
  const first = bytes[at];
  if (first === QUOTE) return endOfString(bytes, at);
  if (first === OPEN_OBJECT || first === OPEN_ARRAY) return endOfNested(bytes, at);
  let next = at;
  while (next < bytes.length && !isEnd(bytes[next])) next += 1;
  return next;
}

function isEnd(byte: number): boolean {
  return byte === COMMA || byte === CLOSE_OBJECT || byte === CLOSE_ARRAY || isSpace(byte);
}

function endOfString(bytes: Uint8Array, at: number): number {
  let next = at + 1;
  while (bytes[next] !== QUOTE) next += bytes[next] === BACKSLASH ? 2 : 1;
  return next + 1;
}

/** Counts brackets and does not recurse, because a client decides how deep a payload is. */
function endOfNested(bytes: Uint8Array, at: number): number {
  let depth = 0;
  let next = at;
  for (;;) {
    const byte = bytes[next];
    if (byte === QUOTE) {
      next = endOfString(bytes, next);
      continue;
    }
    next += 1;
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth += 1;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      depth -= 1;
      if (depth === 0) return next;
    }
  }
}

/** The whole text as one value. */
export function wholeValue(bytes: Uint8Array, start: number, end: number): JsonRange {
  const from = skipSpace(bytes, start);
  let to = end;
  while (to > from && isSpace(bytes[to - 1])) to -= 1;
  return { bytes, start: from, end: to };
}

export interface JsonMember {
  readonly name: JsonRange;
  readonly value: JsonRange;
}

/** The members of an object, in order. */
export function* membersOf({ bytes, start }: JsonRange): Iterable<JsonMember> {
  let at = skipSpace(bytes, start + 1);
  while (bytes[at] !== CLOSE_OBJECT) {
    const nameEnd = endOfString(bytes, at);
    const name = { bytes, start: at, end: nameEnd };
    const valueStart = skipSpace(bytes, skipSpace(bytes, nameEnd) + 1);
    const valueEnd = endOfValue(bytes, valueStart);
    yield { name, value: { bytes, start: valueStart, end: valueEnd } };
    at = skipSpace(bytes, valueEnd);
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1);
  }
}

/**
 * The members of an object before its first array, and that array. The array has no end: to find it
 * is to read all of it.
 */
export function headsOf({ bytes, start }: JsonRange): {
  readonly heads: readonly JsonMember[];
  readonly list: JsonRange;
} {
  const heads: JsonMember[] = [];
  let at = skipSpace(bytes, start + 1);
  for (;;) {
    const name = { bytes, start: at, end: endOfString(bytes, at) };
    const valueStart = skipSpace(bytes, skipSpace(bytes, name.end) + 1);
    if (bytes[valueStart] === OPEN_ARRAY) {
      return { heads, list: { bytes, start: valueStart, end: valueStart } };
    }
    const end = endOfValue(bytes, valueStart);
    heads.push({ name, value: { bytes, start: valueStart, end } });
    at = skipSpace(bytes, skipSpace(bytes, end) + 1);
  }
}

/**
 * The elements of an array, in order; `from` may be the start of one of them. Only the start of the
 * range counts.
 */
export function* elementsOf({ bytes, start }: JsonRange, from = start + 1): Iterable<JsonRange> {
  let at = skipSpace(bytes, from);
  while (bytes[at] !== CLOSE_ARRAY) {
    const end = endOfValue(bytes, at);
    yield { bytes, start: at, end };
    at = skipSpace(bytes, end);
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1);
  }
}

/** The number of elements of an array. Makes no objects: there may be thousands. */
export function elementCount({ bytes, start }: JsonRange): number {
  let count = 0;
  let at = skipSpace(bytes, start + 1);
  while (bytes[at] !== CLOSE_ARRAY) {
    count += 1;
    at = skipSpace(bytes, endOfValue(bytes, at));
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1);
  }
  return count;
}

/** Whether the string in quotes at `range` is the text that `plain` holds in UTF-8. */
export function isText(range: JsonRange, plain: Uint8Array, utf8: Utf8): boolean {
  const { bytes, start, end } = range;
  for (let at = start + 1; at < end - 1; at++) {
    if (bytes[at] === BACKSLASH) return isSame(utf8.encode(textOf(range, utf8)), plain);
    if (bytes[at] !== plain[at - start - 1]) return false;
  }
  return end - start - 2 === plain.length;
}

/** The text of a string in quotes. */
export function textOf({ bytes, start, end }: JsonRange, utf8: Utf8): string {
  return JSON.parse(utf8.decode(bytes.subarray(start, end))) as string;
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}
