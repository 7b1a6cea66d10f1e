import { type BlobAnswer, blobOf, lookIntoBlobs } from '@sluice/core';
import { RANDOM_OUTPUTS } from '@sluice/core/testing/runs/random-definition';
import { UTF8 } from '../base/utf8.ts';

const HASH_DIGITS = 64;

/**
 * Blobs of these worlds. Each has one of the outputs that tasks may have, and its name is the place
 * of that output, so that nobody has to keep them.
 */
export const SIM_BLOBS = {
  hold: async (_: string, hashes: Iterable<string>) => {
    return { missing: new Set([...hashes].filter(isUnknown)), release: () => undefined };
  },
};

function isUnknown(sha256: string): boolean {
  return Number.parseInt(sha256, 16) >= RANDOM_OUTPUTS.length;
}

/** The name of the blob with this output; undefined when there is none. */
export function blobWith(output: unknown): string | undefined {
  const text = JSON.stringify(output);
  const place = RANDOM_OUTPUTS.findIndex((each) => JSON.stringify(each) === text);
  return place < 0 ? undefined : place.toString(16).padStart(HASH_DIGITS, '0');
}

/** A payload as JSON text: itself, or the content of the blob that it names. */
export function readPayload(payload: string): string {
  const sha256 = blobOf(payload);
  return sha256 === undefined ? payload : contentOf(sha256);
}

/** What questions about blobs find. */
export function lookInto(questions: string): BlobAnswer[] {
  const read = (sha256: string): Uint8Array => UTF8.encode(contentOf(sha256));
  return lookIntoBlobs(JSON.parse(questions) as string[], { read, utf8: UTF8 });
}

function contentOf(sha256: string): string {
  return JSON.stringify(RANDOM_OUTPUTS[Number.parseInt(sha256, 16)]);
}
