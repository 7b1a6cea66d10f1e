/** A partition did something else than its model says. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
}

/** Compares as JSON does; throws when the two differ. */
export function agree(what: string, found: unknown, expected: unknown): void {
  const [foundText, expectedText] = [JSON.stringify(found), JSON.stringify(expected)];
  if (foundText === expectedText) return;
  throw new ModelError(`${what}: ${foundText}, not ${expectedText}`);
}
