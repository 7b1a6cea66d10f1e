/**
 * Whether bytes are one JSON text, without parsing it: a blob may be large, and nobody looked at
 * its content when it came in. Nesting is counted, not followed, because a client decides it.
 */
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const LETTER_U = 0x75;

const WRONG = -1;
const ESCAPED = new Set(codesOf('"\\/bfnrt'));
const WORDS = ['true', 'false', 'null'].map(codesOf);
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const NUMBER_CHARACTERS = new Set(codesOf('0123456789+-.eE'));
const HEX = new Set(codesOf('0123456789abcdefABCDEF'));

function codesOf(text: string): number[] {
  return [...text].map((character) => character.charCodeAt(0));
}

export function isJson(bytes: Uint8Array): boolean {
  // What closes each array and object that is open.
  const closers: number[] = [];
  let at = skipSpace(bytes, 0);
  for (;;) {
    const first = bytes[at];
    if (first === OPEN_OBJECT || first === OPEN_ARRAY) {
      const closer = first === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_ARRAY;
      at = skipSpace(bytes, at + 1);
      if (bytes[at] !== closer) {
        closers.push(closer);
        if (closer === CLOSE_OBJECT) at = endOfName(bytes, at);
        if (at === WRONG) return false;
        continue;
      }
      at += 1;
    } else at = endOfScalar(bytes, at);
    if (at !== WRONG) at = nextValue(bytes, at, closers);
    if (at === WRONG) return false;
    if (closers.length === 0) return at === bytes.length;
  }
}

/** Where the next value begins after one that ends at `from`; the end if there is none. */
function nextValue(bytes: Uint8Array, from: number, closers: number[]): number {
  let at = skipSpace(bytes, from);
  while (closers.length > 0) {
    const closer = closers[closers.length - 1];
    if (bytes[at] === closer) {
      closers.pop();
      at = skipSpace(bytes, at + 1);
    } else if (bytes[at] === COMMA) {
      at = skipSpace(bytes, at + 1);
      return closer === CLOSE_OBJECT ? endOfName(bytes, at) : at;
    } else return WRONG;
  }
  return at;
}

/** Where the value of a member begins whose name begins at `at`. */
function endOfName(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== QUOTE) return WRONG;
  const end = endOfString(bytes, at);
  if (end === WRONG) return WRONG;
  const colon = skipSpace(bytes, end);
  return bytes[colon] === COLON ? skipSpace(bytes, colon + 1) : WRONG;
}

function endOfScalar(bytes: Uint8Array, at: number): number {
  if (bytes[at] === QUOTE) return endOfString(bytes, at);
  for (const word of WORDS) {
    if (word.every((byte, place) => bytes[at + place] === byte)) return at + word.length;
  }
  let end = at;
  let text = '';
  while (NUMBER_CHARACTERS.has(bytes[end])) text += String.fromCharCode(bytes[end++]);
  return NUMBER.test(text) ? end : WRONG;
}

function endOfString(bytes: Uint8Array, from: number): number {
  for (let at = from + 1; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) return at + 1;
    if (byte < 0x20) return WRONG;
    if (byte !== BACKSLASH) continue;
    at += 1;
    if (ESCAPED.has(bytes[at])) continue;
    if (bytes[at] !== LETTER_U) return WRONG;
    for (const end = at + 4; at < end; ) if (!HEX.has(bytes[++at])) return WRONG;
  }
  return WRONG;
}

function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at++;
  return at;
}

/** Levels of arrays and objects in a JSON text. */
export function depthOf(bytes: Uint8Array, length: number): number {
  let deepest = 0;
  let depth = 0;
  for (let at = 0; at < length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = endOfString(bytes, at) - 1;
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) deepest = Math.max(deepest, ++depth);
    else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) depth -= 1;
  }
  return deepest;
}
