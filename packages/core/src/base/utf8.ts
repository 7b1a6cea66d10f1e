/** Text encoding, which core cannot do without I/O libraries; the shell passes it in. */
export interface Utf8 {
  encode(text: string): Uint8Array;
  decode(bytes: Uint8Array): string;
}
