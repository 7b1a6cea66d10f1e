/**
 * What a request's body may not hold, whatever route it is for, and what parsing it does not show:
 * two values under one name, of which one would be dropped, and halves of surrogate pairs, which
 * UTF-8 cannot hold.
 *
 * Every check is linear in the length of the body. Almost no body has any of it, so the first look
 * is a cheap one.
 */

import { endOfText, escapePointer, JsonPlace } from '../base/json-place.ts';
import type { ErrorDetail } from '../base/sluice-error.ts';
import { isPayload } from './exact-numbers.ts';

const COLON = 0x3a;
const SPACE = 0x20;

/** The first name that stands twice in one object of `text`, whose value is `value`. */
export function repeatedName(text: string, value: unknown): ErrorDetail | undefined {
  // A name that stands there twice makes one field.
  if (namesIn(text) === fieldsIn(value)) return undefined;
  const place = new JsonPlace(text);
  /** The object that was open last at each level, by its number. */
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

/** How many names of fields stand in a text that is valid JSON. */
function namesIn(text: string): number {
  let names = 0;
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at)) {
    at = endOfText(text, at + 1) + 1;
    // Outside of texts, JSON has nothing below a space but space.
    while (text.charCodeAt(at) <= SPACE) at += 1;
    if (text.charCodeAt(at) === COLON) names += 1;
  }
  return names;
}

/** How many fields all objects of a value have together. */
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

/** An escape that may be half of a pair. */
const SURROGATE = /\\u[dD][89a-fA-F]/;

const PROBLEM = 'has half of a surrogate pair, which is not a character';

/**
 * The first text or name in a body that UTF-8 cannot hold. Payloads, errors and all that reports
 * hold are kept as JSON, where it is an escape like any other.
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
      // What is nested deeper than any request is in a payload, or refused by its schema.
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
