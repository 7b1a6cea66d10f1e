/** A partition and its model disagree. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
}

/** Compares the JSON of both values; throws when they differ. */
export function agree(what: string, found: unknown, expected: unknown): void {
  const [foundText, expectedText] = [JSON.stringify(found), JSON.stringify(expected)];
  if (foundText === expectedText) return;
  throw new ModelError(`${what}: ${foundText}, not ${expectedText}`);
}
