/**
 * A payload that is too big for the log is kept as a blob, a file beside it. In its place stands a
 * reference: `@` and the SHA-256 of the blob in hex. No JSON text begins with `@`, so that nobody
 * takes one for the other, and events, snapshots and hashes need not tell them apart.
 */
const MARK = '@';
const MARK_BYTE = 0x40;

const REFERENCE_BYTES = 65;

export function blobReference(sha256: string): string {
  return MARK + sha256;
}

/** The blob that a payload stands for; nothing when the text is the payload itself. */
export function blobOf(payload: string): string | undefined {
  return payload.startsWith(MARK) ? payload.slice(MARK.length) : undefined;
}

/** Whether the payload of this length at `start` is a reference, without looking at all of it. */
export function isBlobReference(bytes: Uint8Array, start: number, length: number): boolean {
  return length === REFERENCE_BYTES && bytes[start] === MARK_BYTE;
}
