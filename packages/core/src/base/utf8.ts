/** What core cannot do by itself with text; the shell passes it in. */
export interface Utf8 {
  encode(text: string): Uint8Array;
  decode(bytes: Uint8Array): string;
}
