/** What a script gave: JSON text, or why it failed. */
export type ScriptResult = { readonly value: string } | { readonly message: string };

const RESULT_BYTES_MAX = 256 * 1024 - 1024;

/** A script may change how its values turn into JSON, so the text is not trusted. */
export function checkedValue(text: unknown): ScriptResult {
  if (text === undefined) return { value: 'null' };
  if (typeof text !== 'string') return { message: 'its value is no JSON' };
  if (Buffer.byteLength(text) > RESULT_BYTES_MAX) {
    return { message: `its value has more than ${RESULT_BYTES_MAX} bytes` };
  }
  try {
    return { value: JSON.stringify(JSON.parse(text)) };
  } catch {
    return { message: 'its value is no JSON' };
  }
}
