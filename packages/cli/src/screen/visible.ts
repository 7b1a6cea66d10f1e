/**
 * What others wrote may hold characters that a terminal obeys: names of workers, messages, inputs.
 * Everything that is printed goes through `printable`; what stands among our own words goes through
 * `visible` before, so that it cannot pass for a line or a colour of ours.
 */

import { STYLE_SEQUENCE } from './styles.ts';

// Cc is C0, DEL and C1. The others make a terminal show text in another order than it stands there,
// or end a line.
const CONTROLS = /(?!\t)[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;
const CONTROLS_IN_LINES = /(?![\t\n])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

const SHORT_FORMS: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r' };

/** A text of somebody else, on one line. */
export function visible(text: string): string {
  return text.replace(CONTROLS, escaped);
}

/**
 * Whole lines as they may be printed. JSON stays the same JSON: the form of an escaped character is
 * the one that it has there.
 */
export function printable(lines: string, { hasStyles }: { readonly hasStyles: boolean }): string {
  if (!hasStyles) return lines.replace(CONTROLS_IN_LINES, escaped);
  // Every other part is one of our own sequences.
  return lines
    .split(STYLE_SEQUENCE)
    .map((part, place) => (place % 2 === 1 ? part : part.replace(CONTROLS_IN_LINES, escaped)))
    .join('');
}

function escaped(character: string): string {
  const code = character.charCodeAt(0).toString(16).padStart(4, '0');
  return SHORT_FORMS[character] ?? `\\u${code}`;
}
