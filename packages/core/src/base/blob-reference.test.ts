import fc from 'fast-check';
import { expect, test } from 'vitest';
import { testUtf8 } from '../testing/test-utf8.ts';
import { blobOf, blobReference, isBlobReference } from './blob-reference.ts';

const SHA256 = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

test('a reference names its blob, as text and among other bytes', () => {
  const text = blobReference(SHA256);
  const bytes = testUtf8.encode(`"before"${text}`);

  expect(blobOf(text)).toBe(SHA256);
  expect(isBlobReference(bytes, 8, text.length)).toBe(true);
  expect(isBlobReference(bytes, 0, 8)).toBe(false);
});

test('no JSON text is taken for a reference', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const bytes = testUtf8.encode(text);

      expect(blobOf(text)).toBeUndefined();
      expect(isBlobReference(bytes, 0, bytes.length)).toBe(false);
    }),
  );
});

test('a text of the length of a reference is none', () => {
  const bytes = testUtf8.encode(JSON.stringify('@'.repeat(63)));

  expect(bytes.length).toBe(blobReference(SHA256).length);
  expect(isBlobReference(bytes, 0, bytes.length)).toBe(false);
});
