const HEADER_BYTES = 8;
const STDERR = 2;

/**
 * Cuts the log of a container into pieces of its two streams. Each piece has a header with the
 * number of the stream and the length; pieces may arrive in parts of any size.
 */
export class LogFrames {
  private readonly onBytes: (bytes: Uint8Array, isError: boolean) => void;
  private readonly header = new Uint8Array(HEADER_BYTES);
  private headerLength = 0;
  /** Bytes of the piece that have not arrived. */
  private missing = 0;
  private isError = false;

  constructor(onBytes: (bytes: Uint8Array, isError: boolean) => void) {
    this.onBytes = onBytes;
  }

  push(chunk: Uint8Array): void {
    let place = 0;
    while (place < chunk.length) {
      if (this.missing > 0) {
        const part = chunk.subarray(place, place + this.missing);
        this.missing -= part.length;
        place += part.length;
        this.onBytes(part, this.isError);
        continue;
      }
      this.header[this.headerLength] = chunk[place] ?? 0;
      this.headerLength += 1;
      place += 1;
      if (this.headerLength === HEADER_BYTES) this.begin();
    }
  }

  private begin(): void {
    this.headerLength = 0;
    this.isError = this.header[0] === STDERR;
    this.missing = new DataView(this.header.buffer).getUint32(4);
  }
}
