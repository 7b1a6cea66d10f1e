/**
 * Tags and the callback of a task: the core stores them without interpreting tags. The texts are
 * interned, so that a million tasks with the same ones hold them once.
 */
export type Tags = Readonly<Record<string, string>>;

export interface Callback {
  readonly url: string;
  readonly on: readonly string[];
  readonly secret?: string;
}

export const TAGS_MAX = 32;

/** Canonical: the same tags give the same text, in any order; empty for none. */
export function tagsText(tags: Tags | undefined): string {
  if (tags === undefined) return '';
  const names = Object.keys(tags);
  if (names.length === 0) return '';
  return JSON.stringify(Object.fromEntries(names.sort().map((name) => [name, tags[name]])));
}

export function parseTags(text: string): Tags {
  return text === '' ? {} : (JSON.parse(text) as Tags);
}

export function callbackText(callback: Callback | undefined): string {
  if (callback === undefined) return '';
  const { url, on, secret } = callback;
  return JSON.stringify({ url, on: [...on].sort(), secret });
}

export function parseCallback(text: string): Callback | undefined {
  return text === '' ? undefined : (JSON.parse(text) as Callback);
}
