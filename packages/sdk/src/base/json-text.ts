import { LIMITS } from '@sluice/protocol/limits';
import { messageOf } from './shown-value.ts';

/** The length of the text in bytes of UTF-8. */
export function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    // A surrogate pair is two units and four bytes; JSON text contains no lone surrogate.
    bytes += unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 1 : 2;
  }
  return bytes;
}

/** Whether the JSON text fits into a request, or must be sent as a blob. */
export function fitsRequest(text: string): boolean {
  // At most three bytes of UTF-8 per UTF-16 unit.
  const { payloadBytesMax } = LIMITS;
  return text.length * 3 <= payloadBytesMax || utf8Bytes(text) <= payloadBytesMax;
}

/** The JSON of a value, or why there is none: a cycle, a BigInt, a `toJSON` that throws. */
export function jsonText(value: unknown): { text: string } | { problem: string } {
  try {
    return { text: JSON.stringify(value) ?? 'null' };
  } catch (cause) {
    return { problem: messageOf(cause) };
  }
}
