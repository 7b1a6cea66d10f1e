import { clippedText } from './shown-value.ts';

// Cc is C0, DEL and C1. The others end a line, or make a terminal show text in another order.
const CONTROLS = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

const SHORT_FORMS: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** The first characters of a text on one line, with everything that controls a terminal escaped. */
export function visibleText(text: string, charactersMax: number): string {
  const clipped = clippedText(text, charactersMax);
  const more = clipped.length < text.length ? '…' : '';
  return `${clipped.replace(CONTROLS, escaped)}${more}`;
}

function escaped(character: string): string {
  const code = character.charCodeAt(0).toString(16).padStart(4, '0');
  return SHORT_FORMS[character] ?? `\\u${code}`;
}
