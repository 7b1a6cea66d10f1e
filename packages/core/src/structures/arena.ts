import type { Slot } from '../base/ids.ts';
import { invariant } from '../base/invariant.ts';
import { ArenaChunks } from './arena-chunks.ts';
import {
  headerBytes,
  OWNER_SLOTS_MAX,
  type PayloadHeader,
  readHeader,
  writeHeader,
} from './payload-header.ts';
import type { PayloadRange } from './payload-range.ts';

/** One kind of payload of a table, by slot: its place in the arena and its length. */
export interface PayloadColumn {
  readonly name: string;
  /** Meaningless when the length is 0. */
  readonly references: Float64Array;
  readonly lengths: Uint32Array;
}

/**
 * Keeps payload bytes outside the garbage-collected heap, in chunks of fixed size.
 *
 * A payload is written after the last one, behind a header that names its owner: a column and a
 * slot. The column holds the reference, chunk × 2^24 + offset, and the length. When less than half
 * of the chunks is live, `compact` moves the live payloads of the sparsest chunk behind the last
 * payload, a few at a time. The empty chunk is then reused or freed.
 *
 * Who owns which payload is part of the state: only `apply` stores and releases. Where a payload
 * lies is not: it depends on when `compact` was called, and no result depends on it.
 *
 * arena.live-bytes: `liveBytes` is the sum of the lengths of all payloads that were stored and not
 *   released.
 * arena.no-kept-reference: A reference is valid until the next `compact`, so no code keeps one
 *   beyond a command.
 * arena.bounded-compact: One call of `compact` does no more than its rule says. Once it has nothing
 *   to do, the chunks in use are at most twice what is live, headers included, plus two chunks.
 */
const ARENA_CHUNK_BYTES = 2 ** 24;

/** Reference of an absent payload. */
const NO_PAYLOAD = -1;

const NO_CHUNK = -1;

/** When live payloads are moved, and how many at once. */
export interface CompactionRule {
  /**
   * Compaction runs while less than this share of the chunks is live. Above one half it would never
   * end.
   */
  readonly liveShareMin: number;
  /** Number of chunks allowed beyond that share: fewer are not worth the work. */
  readonly slackChunks: number;
  /** Maximum number of payloads that one step visits, including dead ones. */
  readonly entriesMax: number;
  /** Maximum number of bytes that one step moves. A single payload is moved whatever its length. */
  readonly bytesMax: number;
}

const RULE: CompactionRule = {
  liveShareMin: 0.5,
  slackChunks: 2,
  entriesMax: 16_384,
  bytesMax: 2 ** 20,
};

/**
 * The work of a step grows with the garbage released since the last step, and a little with time,
 * so that an idle partition finishes, too. In a chunk that is half dead, each released payload
 * leaves one live payload to move; a factor of four keeps well ahead of that.
 */
const STEP_PER_RELEASE = 4;
const STEP_ENTRIES_PER_MS = 32;
const STEP_BYTES_PER_MS = 2048;

/** Below this length a plain loop is faster than `set`, which needs a view object. */
const SHORT_COPY_BYTES = 64;

export interface ArenaOptions {
  readonly chunkBytes?: number | undefined;
  readonly rule?: CompactionRule | undefined;
}

export class Arena {
  private readonly columns: readonly PayloadColumn[];
  private readonly chunks: ArenaChunks;
  private readonly rule: CompactionRule;
  /** Live bytes of each chunk, headers included. */
  private readonly liveIn: number[] = [];
  private live = 0;
  /** The chunk that takes new payloads; `NO_CHUNK` before the first one. */
  private current = NO_CHUNK;
  private used = 0;
  /** The chunk being emptied, and the offset of its next header. */
  private sparse = NO_CHUNK;
  private cursor = 0;
  /** Released since the last step. */
  private releasedEntries = 0;
  private releasedBytes = 0;
  private readonly header: PayloadHeader = { column: 0, slot: 0, length: 0, start: 0 };
  liveBytes = 0;

  constructor(columns: readonly PayloadColumn[], options: ArenaOptions = {}) {
    for (const { lengths } of columns) {
      invariant(lengths.length <= OWNER_SLOTS_MAX, 'a payload can name its owner');
    }
    this.columns = columns;
    this.chunks = new ArenaChunks(options.chunkBytes ?? ARENA_CHUNK_BYTES);
    this.rule = options.rule ?? RULE;
  }

  /** Chunks that use memory. */
  get chunkCount(): number {
    return this.chunks.kept;
  }

  /** Sets the payload of `column` for `slot`; an empty one stands for none. */
  store(column: number, slot: Slot, payload: PayloadRange): void {
    this.release(column, slot);
    if (payload.start === payload.end) return;
    this.columns[column].lengths[slot] = payload.end - payload.start;
    this.add(column, slot, payload.bytes, payload.start);
  }

  /** Adds a payload whose length is already in `column`, as from a snapshot. */
  load(column: number, slot: Slot, bytes: Uint8Array): void {
    this.add(column, slot, bytes, 0);
  }

  /** Releases the payloads of `slot` in these columns, which are those of one table. */
  releaseAll(slot: Slot, columns: readonly number[]): void {
    for (let i = 0; i < columns.length; i++) this.release(columns[i], slot);
  }

  /** The chunk that holds the payload (arena.no-kept-reference). */
  bytesOf(reference: number): Uint8Array {
    return this.chunks.at(Math.floor(reference / ARENA_CHUNK_BYTES));
  }

  startOf(reference: number): number {
    return reference % ARENA_CHUNK_BYTES;
  }

  /**
   * Moves some live payloads if that is worth it (arena.bounded-compact). `elapsedMs` is the time
   * since the last call.
   */
  compact(elapsedMs: number): void {
    const entriesMax = this.releasedEntries * STEP_PER_RELEASE + elapsedMs * STEP_ENTRIES_PER_MS;
    const bytesMax = this.releasedBytes * STEP_PER_RELEASE + elapsedMs * STEP_BYTES_PER_MS;
    this.releasedEntries = 0;
    this.releasedBytes = 0;
    if (this.sparse === NO_CHUNK && !this.isSparse()) return;
    this.step(Math.min(entriesMax, this.rule.entriesMax), Math.min(bytesMax, this.rule.bytesMax));
  }

  private release(column: number, slot: number): void {
    const { references, lengths } = this.columns[column];
    const length = lengths[slot];
    if (length === 0) return;
    const reference = references[slot];
    // Compaction compares this reference to tell live payloads from dead ones.
    references[slot] = NO_PAYLOAD;
    lengths[slot] = 0;
    this.liveBytes -= length;
    this.releasedEntries += 1;
    this.releasedBytes += length;
    this.leave(Math.floor(reference / ARENA_CHUNK_BYTES), roomOf(length));
  }

  private add(column: number, slot: Slot, source: Uint8Array, start: number): void {
    const { header } = this;
    header.column = column;
    header.slot = slot;
    header.length = this.columns[column].lengths[slot];
    this.liveBytes += header.length;
    this.put(source, start);
  }

  /** Writes the payload of `header` behind the last one and sets its owner's reference. */
  private put(source: Uint8Array, start: number): void {
    const { column, slot, length } = this.header;
    const room = roomOf(length);
    invariant(room <= this.chunks.chunkBytes, 'a payload fits into one arena chunk');
    if (this.current === NO_CHUNK || this.used + room > this.chunks.chunkBytes) this.openChunk();

    const target = this.chunks.at(this.current);
    const at = writeHeader(target, this.used, this.header);
    copyBytes(source, start, start + length, { target, at });
    this.used += room;
    this.liveIn[this.current] += room;
    this.live += room;
    this.columns[column].references[slot] = this.current * ARENA_CHUNK_BYTES + at;
  }

  private openChunk(): void {
    this.current = this.chunks.take();
    this.liveIn[this.current] = 0;
    this.used = 0;
  }

  /** Removes a payload from its chunk. A chunk without payloads is free. */
  private leave(chunk: number, room: number): void {
    this.live -= room;
    this.liveIn[chunk] -= room;
    if (this.liveIn[chunk] > 0) return;
    if (chunk === this.sparse) this.sparse = NO_CHUNK;
    if (chunk === this.current) this.used = 0;
    else this.chunks.giveBack(chunk);
  }

  private isSparse(): boolean {
    const { taken, chunkBytes } = this.chunks;
    const { liveShareMin, slackChunks } = this.rule;
    return (taken - slackChunks) * chunkBytes * liveShareMin > this.live;
  }

  private step(entriesMax: number, bytesMax: number): void {
    const { header } = this;
    let moved = 0;
    for (let entry = 0; entry < entriesMax; entry++) {
      if (this.sparse === NO_CHUNK && !this.chooseSparse()) return;
      const chunk = this.sparse;
      const source = this.chunks.at(chunk);
      readHeader(source, this.cursor, header);
      const { column, slot, length, start } = header;
      if (this.columns[column].references[slot] === chunk * ARENA_CHUNK_BYTES + start) {
        if (moved > 0 && moved + length > bytesMax) return;
        moved += length;
        this.put(source, start);
        this.leave(chunk, roomOf(length));
      }
      this.cursor = start + length;
    }
  }

  /**
   * When less than half of all chunks is live on average, the sparsest chunk is less than half
   * live: moving its payloads frees more room than it takes.
   */
  private chooseSparse(): boolean {
    if (!this.isSparse()) return false;
    let least = Number.POSITIVE_INFINITY;
    for (let chunk = 0; chunk < this.chunks.end; chunk++) {
      const live = this.liveIn[chunk];
      if (live === 0 || live >= least || chunk === this.current) continue;
      least = live;
      this.sparse = chunk;
    }
    this.cursor = 0;
    return this.sparse !== NO_CHUNK;
  }
}

/** Bytes that a payload takes in a chunk. */
function roomOf(length: number): number {
  return headerBytes(length) + length;
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
