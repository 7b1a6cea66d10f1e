import type { Utf8 } from '@sluice/core';

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const encoder = new TextEncoder();

/** A byte order mark is kept like any other character: output equals input. */
export const UTF8: Utf8 = {
  encode: (text) => encoder.encode(text),
  decode: (bytes) => decoder.decode(bytes),
};
