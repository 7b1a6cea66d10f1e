/**
 * Texts of strangers as they can be shown: characters that change the order of others, or that
 * cannot be seen, become visible escapes.
 */
const HIDDEN = /(?![\t\n ])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

export function visible(text: string): string {
  return text.replace(HIDDEN, (char) => `\\u{${char.codePointAt(0)?.toString(16)}}`);
}

/** The first characters of a long text. */
export function clipped(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}…`;
}

/** A value on one line, for a table. */
export function oneLine(value: unknown, max = 120): string {
  return visible(clipped(value === undefined ? '' : (JSON.stringify(value) ?? ''), max));
}

/** Whether a text is a picture that an `img` element can show without running anything in it. */
export function pictureOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  if (/^data:image\/(?:png|jpeg|gif|webp|svg\+xml)[;,]/.test(value)) return value;
  const isSvg = /^\s*(?:<\?xml[^>]*>\s*)?<svg[\s>]/.test(value.slice(0, 500));
  return isSvg ? `data:image/svg+xml;charset=utf-8,${encodeURIComponent(value)}` : undefined;
}
