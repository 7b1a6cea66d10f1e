/** Bytes of one stream that wait for the next flush; older ones are dropped. */
const WAITING_BYTES_MAX = 256 * 1024;

/** A longer line is cut into several. */
const LINE_CHARACTERS_MAX = 8192;

/**
 * Cuts the output of a program into lines, in bounded memory.
 *
 * A program may write much faster than lines can be stored. Then the oldest bytes are dropped, so
 * that the end of the output, which says why a program failed, is always there.
 */
export class OutputTail {
  private chunks: Uint8Array[] = [];
  private waiting = 0;
  private dropped = 0;
  private decoder = new TextDecoder();
  /** The beginning of a line whose end has not arrived. */
  private open = '';

  push(chunk: Uint8Array): void {
    this.chunks.push(chunk);
    this.waiting += chunk.length;
    let place = 0;
    while (this.waiting > WAITING_BYTES_MAX && place < this.chunks.length - 1) {
      this.waiting -= this.chunks[place].length;
      this.dropped += this.chunks[place].length;
      place += 1;
    }
    if (place > 0) this.chunks.splice(0, place);
  }

  /** The whole lines that arrived since the last call. */
  take(): string[] {
    const lines: string[] = [];
    if (this.dropped > 0) {
      // What was open has lost its end, and a character may be torn.
      if (this.open !== '') lines.push(this.open);
      lines.push(`… ${this.dropped} bytes of output were dropped: too much at once`);
      this.open = '';
      this.dropped = 0;
      this.decoder = new TextDecoder();
    }
    for (const chunk of this.chunks) this.open += this.decoder.decode(chunk, { stream: true });
    this.chunks = [];
    this.waiting = 0;
    const parts = this.open.split(/\r?\n/);
    this.open = parts.pop() ?? '';
    while (this.open.length > LINE_CHARACTERS_MAX) {
      parts.push(this.open.slice(0, LINE_CHARACTERS_MAX));
      this.open = this.open.slice(LINE_CHARACTERS_MAX);
    }
    return [...lines, ...parts];
  }

  /** The last lines, at the end of the output. */
  end(): string[] {
    const lines = this.take();
    const last = this.open + this.decoder.decode();
    this.open = '';
    return last === '' ? lines : [...lines, last];
  }
}
