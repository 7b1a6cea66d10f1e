/**
 * Applies a JSON merge patch (RFC 7396): objects are merged field by field, null removes a field,
 * and any other value replaces the old one. Values are JSON of any depth, so this uses no
 * recursion.
 */
export function mergePatch(before: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = copyOf(before);
  const pending: [Fields, Fields][] = [[merged, patch]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [target, changes] = next;
    for (const [name, value] of Object.entries(changes)) {
      if (value === null) {
        delete target[name];
      } else if (isObject(value)) {
        const part = copyOf(target[name]);
        target[name] = part;
        pending.push([part, value]);
      } else {
        target[name] = value;
      }
    }
  }
  return merged;
}

type Fields = Record<string, unknown>;

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Without a prototype, so that a field may have any name. A value that is not an object has no
 * fields.
 */
function copyOf(value: unknown): Fields {
  return Object.assign(Object.create(null), isObject(value) ? value : {});
}
