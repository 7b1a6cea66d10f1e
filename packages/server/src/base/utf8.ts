import type { Utf8 } from '@sluice/core';

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const encoder = new TextEncoder();

/** A byte order mark is a character like any other: what came in goes out. */
export const UTF8: Utf8 = {
  encode: (text) => encoder.encode(text),
  decode: (bytes) => decoder.decode(bytes),
};
