/**
 * Checks that apply to the body of every request and that parsing does not cover. They find
 * repeated names in an object, because parsing would drop one of the values. They also find lone
 * surrogates, which UTF-8 cannot represent.
 *
 * Every check is linear in the length of the body. Almost no body has such problems, so a cheap
 * test comes first.
 */

import { endOfText, escapePointer, JsonPlace } from '../base/json-place.ts';
import type { ErrorDetail } from '../base/sluice-error.ts';
import { isPayload } from './exact-numbers.ts';

const COLON = 0x3a;
const SPACE = 0x20;

/** The first name that occurs twice in one object of `text`, whose parsed value is `value`. */
export function repeatedName(text: string, value: unknown): ErrorDetail | undefined {
  // A repeated name yields only one field.
  if (namesIn(text) === fieldsIn(value)) return undefined;
  const place = new JsonPlace(text);
  /** The object that was last open at each level, by number. */
  const open: { names: Set<string>; number: number }[] = [];
  for (let raw = place.nextName(); raw !== undefined; raw = place.nextName()) {
    const name = raw.includes('\\') ? JSON.stringify(JSON.parse(raw)) : raw;
    const depth = place.levels.length;
    const number = place.opened[depth - 1];
    if (open[depth]?.number !== number) open[depth] = { names: new Set(), number };
    const { names } = open[depth];
    if (names.has(name)) return { path: place.path(), problem: 'occurs twice' };
    names.add(name);
  }
  return undefined;
}

/** Number of field names in a valid JSON text. */
function namesIn(text: string): number {
  let names = 0;
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at)) {
    at = endOfText(text, at + 1) + 1;
    // Outside of strings, JSON contains no characters up to a space except whitespace.
    while (text.charCodeAt(at) <= SPACE) at += 1;
    if (text.charCodeAt(at) === COLON) names += 1;
  }
  return names;
}

/** Total number of fields in all objects of a value. */
function fieldsIn(value: unknown): number {
  let fields = 0;
  const waiting: object[] = isObject(value) ? [value] : [];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (Array.isArray(next)) {
      for (const item of next) if (isObject(item)) waiting.push(item);
      continue;
    }
    for (const name in next) {
      fields += 1;
      const part = (next as Record<string, unknown>)[name];
      if (isObject(part)) waiting.push(part);
    }
  }
  return fields;
}

/** An escape that may be a lone surrogate. */
const SURROGATE = /\\u[dD][89a-fA-F]/;

const PROBLEM = 'has half of a surrogate pair, which is not a character';

/**
 * The first string or name in a body that UTF-8 cannot represent. Payloads, errors and the contents
 * of reports are exempt: they are stored as JSON, where it is an escape like any other.
 */
export function brokenText(text: string, value: unknown): ErrorDetail | undefined {
  return SURROGATE.test(text) ? brokenTextIn(value) : undefined;
}

export function brokenTextIn(value: unknown): ErrorDetail | undefined {
  const waiting: Place[] = [{ value, levels: [] }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { levels } = next;
    if (isKeptAsJson(levels)) continue;
    if (typeof next.value === 'string' && !next.value.isWellFormed()) return broken(levels);
    if (!isObject(next.value)) continue;
    const isArray = Array.isArray(next.value);
    for (const [name, part] of Object.entries(next.value)) {
      const inner = [...levels, isArray ? Number(name) : name];
      if (!name.isWellFormed()) return broken(inner);
      // Deeper nesting than in any request is in a payload, or refused by its schema.
      if (inner.length < DEPTH_MAX) waiting.push({ value: part, levels: inner });
    }
  }
  return undefined;
}

interface Place {
  readonly value: unknown;
  readonly levels: readonly (number | string)[];
}

const DEPTH_MAX = 8;

function isKeptAsJson(levels: readonly (number | string)[]): boolean {
  if (levels.length === 0) return false;
  return levels[0] === 'reports' || levels[0] === 'error' || isPayload(levels);
}

function broken(levels: readonly (number | string)[]): ErrorDetail {
  const path = levels.map((level) => `/${escapePointer(String(level))}`).join('');
  return { path: path.toWellFormed(), problem: PROBLEM };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
