/** The value at a JSON pointer; undefined when there is none. */
export function valueAt(value: unknown, pointer: string): unknown {
  let found = value;
  for (const part of segmentsOf(pointer)) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part))
      return undefined;
    found = (found as Record<string, unknown>)[part];
  }
  return found;
}

const WHOLE = /^\d+$/;

/**
 * The order of two places in a document: items of a list by their number, fields by their name, and
 * an object before what is in it.
 */
export function comparePlaces(a: string, b: string): number {
  const [left, right] = [segmentsOf(a), segmentsOf(b)];
  for (const [index, part] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    if (part === other) continue;
    if (WHOLE.test(part) && WHOLE.test(other)) return Number(part) - Number(other);
    return part < other ? -1 : 1;
  }
  return left.length - right.length;
}

function segmentsOf(pointer: string): string[] {
  const parts = pointer.split('/').slice(1);
  return parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}
