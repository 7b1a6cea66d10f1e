/**
 * Whether every task or run in a body has a dedupe key, or all of them are remembered by the key of
 * the request. Only a request whose connection broke is parsed for this.
 */
export function isDeduped(body: Buffer, hasRequestKey: boolean): boolean {
  const value = parsed(body);
  const items: unknown[] = Array.isArray(value) ? value : [value];
  return items.length > 0 && items.every((item) => isItemDeduped(item, hasRequestKey));
}

function isItemDeduped(item: unknown, hasRequestKey: boolean): boolean {
  if (typeof item !== 'object' || item === null) return false;
  const { dedupeKey, onDuplicate } = item as Record<string, unknown>;
  if (dedupeKey === undefined) return hasRequestKey;
  // A second replacement could undo what somebody else did between the two.
  return typeof dedupeKey === 'string' && dedupeKey !== '' && onDuplicate !== 'replace';
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    // The owner refuses such a body; here it has no keys.
    return undefined;
  }
}
