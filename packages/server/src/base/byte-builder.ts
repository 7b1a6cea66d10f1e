/** Builds a message byte by byte: JSON envelopes around payloads that are already bytes. */
export class ByteBuilder {
  private bytes: Buffer;
  length = 0;

  constructor(bytesHint: number) {
    this.bytes = Buffer.allocUnsafe(bytesHint);
  }

  /** Adds text that is all ASCII. */
  ascii(text: string): void {
    this.reserve(text.length);
    const { bytes, length } = this;
    for (let i = 0; i < text.length; i++) bytes[length + i] = text.charCodeAt(i);
    this.length += text.length;
  }

  copy(source: Uint8Array, start: number, length: number): void {
    this.reserve(length);
    this.bytes.set(source.subarray(start, start + length), this.length);
    this.length += length;
  }

  /** Makes room for `length` bytes. The caller writes them into the returned `bytes` at `at`. */
  extend(length: number): { readonly bytes: Buffer; readonly at: number } {
    this.reserve(length);
    const at = this.length;
    this.length += length;
    return { bytes: this.bytes, at };
  }

  /** The message. The builder must not be used afterwards: the message owns the memory. */
  take(): Buffer {
    return this.bytes.subarray(0, this.length);
  }

  private reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.length + more, this.bytes.length * 2));
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
  }
}
