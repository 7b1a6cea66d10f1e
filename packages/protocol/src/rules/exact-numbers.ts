import { JsonPlace } from '../base/json-place.ts';

/**
 * Finds numbers that a double cannot hold, which is what JSON numbers become here and in most
 * programs: `9007199254740993`, `1e400`. A payload with such a number is refused, because it would
 * come back changed without notice.
 *
 * Every body is checked, so the search is one regular expression over text that is known to be
 * valid JSON. It is written out so that the engine can skip ahead, which it does not do with
 * `{16}`.
 */

/** Numbers that may be inexact: 16 digits or more, or an exponent of three digits. */
const SUSPECT =
  /[0-9][0-9.][0-9.][0-9.][0-9.][0-9.][0-9.][0-9.][0-9.]{8}|[0-9][eE][-+0-9][0-9][0-9]/g;

const NUMBER = /^-?([0-9]+)(?:\.([0-9]+))?(?:[eE]([-+]?[0-9]+))?$/;

/** Fields with values of users, in any request. Other numbers are limited by their schemas. */
const PAYLOADS: readonly unknown[] = ['input', 'output', 'data'];

/** Maximum length of a number in a message. */
const SHOWN_MAX = 60;

export interface InexactNumber {
  /** A JSON pointer into the text. */
  readonly path: string;
  /** As written in the text; a long one is cut. */
  readonly number: string;
}

/**
 * The first number in a payload of a request, which is valid JSON, that cannot be stored exactly.
 */
export function inexactPayload(text: string, place = new JsonPlace(text)) {
  return inexactNumber(text, isPayload, place);
}

/** Whether the place is in a payload: `/input`, `/7/input`, `/reports/7/output`. */
export function isPayload(levels: readonly (number | string)[]): boolean {
  let at = levels[0] === 'reports' ? 1 : 0;
  if (typeof levels[at] === 'number') at += 1;
  return PAYLOADS.includes(levels[at]);
}

/** The first number in `text`, which is valid JSON, that cannot be stored exactly. */
export function inexactNumber(
  text: string,
  counts: (levels: readonly (number | string)[]) => boolean = () => true,
  place = new JsonPlace(text),
): InexactNumber | undefined {
  SUSPECT.lastIndex = 0;
  for (let match = SUSPECT.exec(text); match !== null; match = SUSPECT.exec(text)) {
    const start = startOfNumber(text, match.index);
    const end = endOfNumber(text, match.index);
    SUSPECT.lastIndex = end;
    // The match may be inside a string, where it is not a number. Only the first such check is
    // expensive.
    if (place.steps > 0 && !place.moveTo(start)) continue;
    const number = text.slice(start, end);
    if (isExact(number)) continue;
    if (!place.moveTo(start) || !counts(place.levels)) continue;
    const shown = number.length > SHOWN_MAX ? `${number.slice(0, SHOWN_MAX)}…` : number;
    return { path: place.path(), number: shown };
  }
  return undefined;
}

/**
 * Whether a number comes back as it was sent. An integer must be the same digit by digit. Any other
 * number may be any usual way to write its double: some programs write 0.1 as 0.10000000000000001.
 */
function isExact(number: string): boolean {
  const value = Number(number);
  const kept = String(value);
  if (kept === number) return true;
  const sent = decimal(number);
  if (sent === undefined) return false;
  if (sent === decimal(kept)) return true;
  return /[.eE]/.test(number) && sent === decimal(value.toPrecision(17));
}

/**
 * A canonical text for all ways to write the same number: its digits, and the position of the
 * point.
 */
function decimal(number: string): string | undefined {
  const [, whole, fraction = '', exponent = '0'] = NUMBER.exec(number) ?? [];
  if (whole === undefined) return undefined;
  const digits = whole + fraction;
  let first = 0;
  while (digits[first] === '0') first += 1;
  let end = digits.length;
  while (end > first && digits[end - 1] === '0') end -= 1;
  if (end === first) return '0';
  return `${digits.slice(first, end)}e${whole.length - first + Number(exponent)}`;
}

function startOfNumber(text: string, inside: number): number {
  let start = inside;
  while (start > 0 && isOfNumber(text.charCodeAt(start - 1))) start -= 1;
  return start;
}

function endOfNumber(text: string, inside: number): number {
  let end = inside;
  while (end < text.length && isOfNumber(text.charCodeAt(end))) end += 1;
  return end;
}

/** A digit, or one of `+-.eE`. */
function isOfNumber(unit: number): boolean {
  if (unit >= 0x30 && unit <= 0x39) return true;
  return unit === 0x2b || unit === 0x2d || unit === 0x2e || unit === 0x45 || unit === 0x65;
}
