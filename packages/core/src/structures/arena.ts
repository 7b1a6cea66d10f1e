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

/** A payload of each task: where the arena keeps it, and how long it is. */
export interface PayloadColumn {
  readonly name: string;
  /** Without meaning when the length is 0. */
  readonly references: Float64Array;
  readonly lengths: Uint32Array;
}

/**
 * Keeps payload bytes outside the garbage collector's sight, in chunks of fixed size.
 *
 * A payload is written behind the last one, after a header that names its owner: a column and a
 * slot. The column holds the reference, chunk × 2^24 + offset, and the length. When less than half
 * of the chunks is live, `compact` moves the survivors of the sparsest one behind the last payload,
 * a few at a time, and the chunk is used again or given back.
 *
 * Which payload is whose belongs to the state: only `apply` stores and releases. Where a payload
 * lies does not: it depends on when `compact` was called, and no result depends on it.
 *
 * A1 `liveBytes` is the sum of the lengths of all payloads that were stored and not released.
 * A2 A reference is good until the next `compact`, so nobody keeps one beyond a command.
 * A3 One call of `compact` does no more than its rule says. Once it has nothing to do, the chunks
 *    that are taken are at most twice what is live, headers included, and two chunks more.
 */
const ARENA_CHUNK_BYTES = 2 ** 24;

/** Reference of a payload that is absent. */
const NO_PAYLOAD = -1;

const NO_CHUNK = -1;

/** When survivors are moved, and how many at once. */
export interface CompactionRule {
  /** They are while less than this share of the chunks is live; above a half it has no end. */
  readonly liveShareMin: number;
  /** Chunks that may be taken beyond that: fewer are not worth the work. */
  readonly slackChunks: number;
  /** Payloads that one step may look at, dead ones included. */
  readonly entriesMax: number;
  /** Bytes that one step may move. A single payload is moved whatever its length. */
  readonly bytesMax: number;
}

const RULE: CompactionRule = {
  liveShareMin: 0.5,
  slackChunks: 2,
  entriesMax: 16_384,
  bytesMax: 2 ** 20,
};

/**
 * What a step may do grows with what was released since the last one, which is the garbage to be
 * cleared, and a little with time, so that an idle partition gets there too. A chunk that is half
 * dead has one survivor to move for each payload released; four keep well ahead of that.
 */
const STEP_PER_RELEASE = 4;
const STEP_ENTRIES_PER_MS = 32;
const STEP_BYTES_PER_MS = 2048;

/** Below this length a plain loop beats the view object that `set` needs. */
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
  /** The chunk whose survivors are being moved, and where its next header is. */
  private sparse = NO_CHUNK;
  private cursor = 0;
  /** Since the last step. */
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

  /** Chunks that take memory. */
  get chunkCount(): number {
    return this.chunks.kept;
  }

  /** Makes `payload` the one that `column` has for `slot`; an empty one stands for none. */
  store(column: number, slot: Slot, payload: PayloadRange): void {
    this.release(column, slot);
    if (payload.start === payload.end) return;
    this.columns[column].lengths[slot] = payload.end - payload.start;
    this.add(column, slot, payload.bytes, payload.start);
  }

  /** Takes in the payload of which `column` already has the length, as from a snapshot. */
  load(column: number, slot: Slot, bytes: Uint8Array): void {
    this.add(column, slot, bytes, 0);
  }

  /** Releases whatever the columns have for `slot`. */
  releaseAll(slot: Slot): void {
    for (let column = 0; column < this.columns.length; column++) this.release(column, slot);
  }

  /** The chunk that holds the payload (A2). */
  bytesOf(reference: number): Uint8Array {
    return this.chunks.at(Math.floor(reference / ARENA_CHUNK_BYTES));
  }

  startOf(reference: number): number {
    return reference % ARENA_CHUNK_BYTES;
  }

  /** Moves some survivors if that is worth it (A3). `elapsedMs` is the time since the last call. */
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
    // The column must not look as if it had a payload that is gone: a step goes by it.
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

  /** Writes the payload of `header` behind the last one and tells its owner where. */
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

  /** Takes a payload off its chunk, which is free once it has none. */
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
   * Among chunks of which less than half is live on average, the sparsest is less than half live:
   * moving what it has frees more than it takes.
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

/** What a payload takes in a chunk. */
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
