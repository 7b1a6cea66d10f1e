/** Number of empty chunks kept for the next payloads; more are freed. */
const RESERVE_CHUNKS = 2;

/**
 * The memory of an arena: chunks of one size, identified by number. Numbers of freed chunks are
 * reused, so that numbers stay below the largest number of chunks ever needed at once.
 */
export class ArenaChunks {
  readonly chunkBytes: number;
  /** An entry without bytes is an unused number. */
  private readonly chunks: Uint8Array[] = [];
  private readonly reserve: number[] = [];
  private readonly vacant: number[] = [];

  constructor(chunkBytes: number) {
    this.chunkBytes = chunkBytes;
  }

  /** Chunks that use memory. */
  get kept(): number {
    return this.chunks.length - this.vacant.length;
  }

  /** Chunks in use. */
  get taken(): number {
    return this.kept - this.reserve.length;
  }

  /** All chunk numbers are below this. */
  get end(): number {
    return this.chunks.length;
  }

  at(chunk: number): Uint8Array {
    return this.chunks[chunk];
  }

  /** Returns the number of a chunk that belongs to the caller until it is given back. */
  take(): number {
    const reserved = this.reserve.pop();
    if (reserved !== undefined) return reserved;
    const chunk = this.vacant.pop() ?? this.chunks.length;
    this.chunks[chunk] = new Uint8Array(this.chunkBytes);
    return chunk;
  }

  giveBack(chunk: number): void {
    if (this.reserve.length < RESERVE_CHUNKS) {
      this.reserve.push(chunk);
      return;
    }
    this.chunks[chunk] = NOTHING;
    this.vacant.push(chunk);
  }
}

const NOTHING = new Uint8Array(0);
