/** Reads lines and byte ranges from pieces of any size. */
export class ByteReader {
  private readonly pieces: AsyncIterator<Uint8Array>;
  /** Received bytes that were not read yet. */
  private rest: Buffer = Buffer.alloc(0);

  constructor(pieces: AsyncIterable<Uint8Array>) {
    this.pieces = pieces[Symbol.asyncIterator]();
  }

  /** The next line, up to `bytesMax` bytes; undefined when there is no complete one. */
  async line(bytesMax: number): Promise<string | undefined> {
    for (;;) {
      const end = this.rest.indexOf(0x0a);
      if (end >= 0) {
        const line = this.rest.toString('utf8', 0, end);
        this.rest = this.rest.subarray(end + 1);
        return line;
      }
      if (this.rest.length > bytesMax || !(await this.more())) return undefined;
    }
  }

  /** The next `count` bytes, in parts; fewer when the input ends. */
  async *bytes(count: number): AsyncGenerator<Buffer> {
    for (let left = count; left > 0; ) {
      if (this.rest.length === 0 && !(await this.more())) return;
      const part = this.rest.subarray(0, left);
      this.rest = this.rest.subarray(part.length);
      left -= part.length;
      yield part;
    }
  }

  private async more(): Promise<boolean> {
    const { value, done } = await this.pieces.next();
    if (done === true) return false;
    this.rest = this.rest.length === 0 ? viewOf(value) : Buffer.concat([this.rest, value]);
    return true;
  }
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
