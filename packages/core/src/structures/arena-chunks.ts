/** Empty chunks that are kept for the next payloads; further ones go back to the system. */
const RESERVE_CHUNKS = 2;

/**
 * The memory of an arena: chunks of one size, known by number. Numbers of chunks that were given
 * back are used again, so that numbers stay as small as the number of chunks ever needed at once.
 */
export class ArenaChunks {
  readonly chunkBytes: number;
  /** An entry without bytes is a number that is not in use. */
  private readonly chunks: Uint8Array[] = [];
  private readonly reserve: number[] = [];
  private readonly vacant: number[] = [];

  constructor(chunkBytes: number) {
    this.chunkBytes = chunkBytes;
  }

  /** Chunks that take memory. */
  get kept(): number {
    return this.chunks.length - this.vacant.length;
  }

  /** Chunks that are taken. */
  get taken(): number {
    return this.kept - this.reserve.length;
  }

  /** No number of a chunk is as large as this. */
  get end(): number {
    return this.chunks.length;
  }

  at(chunk: number): Uint8Array {
    return this.chunks[chunk];
  }

  /** Answers the number of a chunk that is the caller's until it is given back. */
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
