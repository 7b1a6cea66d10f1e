import type { Slot } from '../base/ids.ts';
import { Arena, type CompactionRule } from '../structures/arena.ts';
import type { PayloadRange } from '../structures/payload-range.ts';

/** Size of a short payload's header. */
export const HEADER_BYTES = 5;

/** Chunks that an arena may keep beyond twice the live bytes: two in use, two in reserve. */
export const ARENA_SLACK_CHUNKS = 4;

export const SLOTS = 60;
const STEPS_MAX = 10_000;

type Step = Pick<CompactionRule, 'entriesMax' | 'bytesMax'>;

/** An arena for two columns, and a map of its expected contents. */
export class TestArena {
  private readonly columns = [0, 1].map((name) => ({
    name: String(name),
    references: new Float64Array(SLOTS),
    lengths: new Uint32Array(SLOTS),
  }));
  /** Number of payloads whose owner the arena checked. */
  private looks = 0;
  private readonly arena: Arena;
  private readonly chunkBytes: number;
  private readonly rule: CompactionRule;
  private readonly contents = new Map<string, number[]>();
  private stored = 0;

  constructor(chunkBytes: number, step: Step = { entriesMax: 1000, bytesMax: 1000 }) {
    this.chunkBytes = chunkBytes;
    this.rule = { liveShareMin: 0.5, slackChunks: 2, ...step };
    const watched = this.columns.map(({ name, references, lengths }) => ({
      name,
      references: this.watch(references),
      lengths,
    }));
    this.arena = new Arena(watched, { chunkBytes, rule: this.rule });
  }

  get chunkCount(): number {
    return this.arena.chunkCount;
  }

  /** The highest chunk that holds a payload. */
  get highestChunk(): number {
    return Math.floor(Math.max(...this.references()) / 2 ** 24);
  }

  get liveBytes(): number {
    return this.arena.liveBytes;
  }

  /** Live bytes, headers included. */
  get liveRoom(): number {
    let room = 0;
    for (const { length } of this.contents.values()) room += length + HEADER_BYTES;
    return room;
  }

  setRule(rule: CompactionRule): void {
    Object.assign(this.rule, rule);
  }

  store(column: number, slot: number, length: number): void {
    this.stored += 1;
    const content = Array.from({ length }, (_, index) => (this.stored * 31 + index) % 251);
    const bytes = Uint8Array.from([7, ...content, 7]);
    this.storeBytes(column, slot, { bytes, start: 1, end: length + 1 });
  }

  storeBytes(column: number, slot: number, payload: PayloadRange): void {
    this.arena.store(column, slot as Slot, payload);
    const content = [...payload.bytes.subarray(payload.start, payload.end)];
    if (content.length > 0) this.contents.set(`${column}/${slot}`, content);
    else this.contents.delete(`${column}/${slot}`);
  }

  releaseAll(slot: number): void {
    this.arena.releaseAll(slot as Slot, [0, 1]);
    this.contents.delete(`0/${slot}`);
    this.contents.delete(`1/${slot}`);
  }

  /** Makes one step, checks its limits, and returns how many payloads moved. */
  compact(elapsedMs: number): number {
    const before = this.references();
    this.looks = 0;
    this.arena.compact(elapsedMs);
    const lengths = this.columns.flatMap((column) => [...column.lengths]);
    const moved = this.references()
      .map((place, index) => (place === before[index] ? 0 : lengths[index]))
      .filter((length) => length > 0);
    const bytes = moved.reduce((sum, length) => sum + length, 0);
    const { entriesMax, bytesMax } = this.rule;
    if (this.looks > entriesMax)
      throw new Error(`arena.bounded-compact: a step looked at ${this.looks} payloads`);
    if (moved.length > 1 && bytes > bytesMax)
      throw new Error(`arena.bounded-compact: a step moved ${bytes} bytes`);
    return moved.length;
  }

  /** Makes steps until nothing changes; returns how many payloads moved. */
  compactFully(): number {
    let moves = 0;
    // A step that moved nothing may have skipped dead payloads. A chunk has no more of them than
    // bytes.
    let idleSteps = 0;
    for (let step = 0; idleSteps <= this.chunkBytes; step++) {
      if (step > STEPS_MAX) throw new Error('arena.bounded-compact: the steps have no end');
      const moved = this.compact(1000);
      moves += moved;
      idleSteps = moved === 0 ? idleSteps + 1 : 0;
    }
    return moves;
  }

  references(): number[] {
    return this.columns.flatMap((column) => [...column.references]);
  }

  read(column: number, slot: number): number[] {
    const { references, lengths } = this.columns[column];
    if (lengths[slot] === 0) return [];
    const start = this.arena.startOf(references[slot]);
    const bytes = this.arena.bytesOf(references[slot]);
    return [...bytes.subarray(start, start + lengths[slot])];
  }

  private watch(references: Float64Array): Float64Array {
    return new Proxy(references, {
      get: (target, key) => {
        this.looks += 1;
        return Reflect.get(target, key);
      },
    });
  }

  /** Fails unless the arena's contents equal the map. */
  expectAll(): void {
    let liveBytes = 0;
    for (let column = 0; column < this.columns.length; column++) {
      for (let slot = 0; slot < SLOTS; slot++) {
        const expected = this.contents.get(`${column}/${slot}`) ?? [];
        liveBytes += expected.length;
        const actual = this.read(column, slot);
        if (actual.join() !== expected.join()) {
          throw new Error(`${column}/${slot} has [${actual}], not [${expected}]`);
        }
      }
    }
    if (liveBytes !== this.liveBytes)
      throw new Error(`arena.live-bytes: ${this.liveBytes}, not ${liveBytes}`);
  }
}
