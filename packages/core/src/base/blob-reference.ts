/**
 * A payload that is too big for the log is stored as a blob, a file beside the log. The log then
 * holds a reference: `@` and the SHA-256 of the blob in hex. No JSON text begins with `@`, so
 * references and payloads cannot be confused. Events, snapshots and hashes treat both alike.
 */
const MARK = '@';
const MARK_BYTE = 0x40;

const REFERENCE_BYTES = 65;

export function blobReference(sha256: string): string {
  return MARK + sha256;
}

/** The hash of the referenced blob; undefined when the text is the payload itself. */
export function blobOf(payload: string): string | undefined {
  return payload.startsWith(MARK) ? payload.slice(MARK.length) : undefined;
}

/**
 * Whether the payload of this length at `start` is a reference. Checks only the length and the
 * first byte.
 */
export function isBlobReference(bytes: Uint8Array, start: number, length: number): boolean {
  return length === REFERENCE_BYTES && bytes[start] === MARK_BYTE;
}
