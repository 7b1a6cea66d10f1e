/** Text encoding, which core cannot do by itself; the shell passes it in. */
export interface Utf8 {
  encode(text: string): Uint8Array;
  decode(bytes: Uint8Array): string;
}
