/**
 * Makes values of handlers safe to show. A handler may throw, return or log anything, even a value
 * that throws when it is converted to text. Nothing in this file ever throws.
 */

const NOT_SHOWABLE = 'a value that cannot be shown';

/** The value as text that JSON and UTF-8 can hold, without lone surrogates. */
export function textOf(value: unknown): string {
  try {
    return (typeof value === 'string' ? value : String(value)).toWellFormed();
  } catch {
    return NOT_SHOWABLE;
  }
}

/** The first characters of the value's text. */
export function clippedText(value: unknown, charactersMax: number): string {
  const text = textOf(value);
  // Again, because the cut may split a surrogate pair.
  return text.length <= charactersMax ? text : text.slice(0, charactersMax).toWellFormed();
}

/** The value as a number, or undefined when it is none. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === 'bigint') return Number(value);
  return typeof value === 'number' ? value : undefined;
}

/** `instanceof`, also for a proxy that throws. */
export function isInstance<T>(value: unknown, kind: new (...args: never[]) => T): value is T {
  try {
    return value instanceof kind;
  } catch {
    return false;
  }
}

/** The message of an error, or the text of any other thrown value. */
export function messageOf(cause: unknown): string {
  if (!isInstance(cause, Error)) return textOf(cause);
  try {
    return textOf(cause.message || cause.name);
  } catch {
    return NOT_SHOWABLE;
  }
}

/** The property of an error, when it exists and is text. */
export function textProperty(cause: object, name: 'code' | 'stack'): string | undefined {
  try {
    const value = (cause as Record<string, unknown>)[name];
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
