/**
 * Texts from outside may contain characters that control a terminal: names of workers, messages,
 * inputs. Everything that is printed goes through `printable`. A foreign text inside our output
 * also goes through `visible` first, so that it cannot imitate a line or a style of ours.
 */

import { STYLE_SEQUENCE } from './styles.ts';

// Cc is C0, DEL and C1. The others end a line, or make a terminal show text in another order.
const CONTROLS = /(?!\t)[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;
const CONTROLS_IN_LINES = /(?![\t\n])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

const SHORT_FORMS: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r' };

/** A foreign text on one line. */
export function visible(text: string): string {
  return text.replace(CONTROLS, escaped);
}

/**
 * Lines that are safe to print. JSON stays the same JSON, because characters are escaped as in
 * JSON.
 */
export function printable(lines: string, { hasStyles }: { readonly hasStyles: boolean }): string {
  if (!hasStyles) return lines.replace(CONTROLS_IN_LINES, escaped);
  // Every other part is a sequence of our styles.
  return lines
    .split(STYLE_SEQUENCE)
    .map((part, place) => (place % 2 === 1 ? part : part.replace(CONTROLS_IN_LINES, escaped)))
    .join('');
}

function escaped(character: string): string {
  const code = character.charCodeAt(0).toString(16).padStart(4, '0');
  return SHORT_FORMS[character] ?? `\\u${code}`;
}
