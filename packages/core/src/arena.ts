import { invariant } from './invariant.ts';

/**
 * Keeps payload bytes outside the garbage collector's sight, in chunks of fixed size.
 *
 * A payload is written once behind the last one and found again by its reference: chunk × 2^24 +
 * offset. A chunk whose payloads were all released is used again. A chunk with one live payload
 * stays whole; moving the survivors of sparse chunks is not done here.
 *
 * A1 `liveBytes` is the sum of the lengths of all payloads that were put and not released.
 */
const ARENA_CHUNK_BYTES = 2 ** 24;

/** Reference of a payload that is absent. */
export const NO_PAYLOAD = -1;

/** Below this length a plain loop beats the view object that `set` needs. */
const SHORT_COPY_BYTES = 64;

export class Arena {
  private readonly chunks: Uint8Array[] = [];
  private readonly liveInChunk: number[] = [];
  private readonly emptyChunks: number[] = [];
  private readonly chunkBytes: number;
  /** The chunk that takes new payloads; -1 before the first one. */
  private current = -1;
  private used = 0;
  liveBytes = 0;

  constructor(chunkBytes = ARENA_CHUNK_BYTES) {
    this.chunkBytes = chunkBytes;
  }

  get chunkCount(): number {
    return this.chunks.length;
  }

  /** Copies `source` from `start` to `end` and answers the reference. */
  put(source: Uint8Array, start: number, end: number): number {
    const length = end - start;
    invariant(length <= this.chunkBytes, 'a payload fits into one arena chunk');
    if (this.current < 0 || this.used + length > this.chunkBytes) this.openChunk();

    const at = this.used;
    copyBytes(source, start, end, { target: this.chunks[this.current], at });
    this.used += length;
    this.liveInChunk[this.current] += length;
    this.liveBytes += length;
    return this.current * ARENA_CHUNK_BYTES + at;
  }

  release(reference: number, length: number): void {
    const chunk = Math.floor(reference / ARENA_CHUNK_BYTES);
    this.liveInChunk[chunk] -= length;
    this.liveBytes -= length;
    if (this.liveInChunk[chunk] === 0) this.emptied(chunk);
  }

  /** The chunk that holds the payload; valid until the payload is released. */
  bytesOf(reference: number): Uint8Array {
    return this.chunks[Math.floor(reference / ARENA_CHUNK_BYTES)];
  }

  startOf(reference: number): number {
    return reference % ARENA_CHUNK_BYTES;
  }

  private openChunk(): void {
    const full = this.current;
    const reused = this.emptyChunks.pop();
    if (reused === undefined) {
      this.current = this.chunks.length;
      this.chunks.push(new Uint8Array(this.chunkBytes));
      this.liveInChunk.push(0);
    } else {
      this.current = reused;
    }
    this.used = 0;
    // Its payloads may all have been released while it was current, when it could not be given
    // away.
    if (full >= 0 && this.liveInChunk[full] === 0) this.emptyChunks.push(full);
  }

  private emptied(chunk: number): void {
    if (chunk === this.current) this.used = 0;
    else this.emptyChunks.push(chunk);
  }
}

export function copyBytes(
  source: Uint8Array,
  start: number,
  end: number,
  to: { readonly target: Uint8Array; readonly at: number },
): void {
  const { target, at } = to;
  if (end - start > SHORT_COPY_BYTES) {
    target.set(source.subarray(start, end), at);
    return;
  }
  for (let i = start; i < end; i++) target[at + i - start] = source[i];
}
