/** What `{{…}}` in the strings of an input stands for. */
export interface FireFacts {
  readonly scheduledAt: string;
  readonly firedAt: string;
  readonly scheduleId: string;
  readonly fireNumber: string;
}

const PLACEHOLDER = /\{\{(scheduledAt|firedAt|scheduleId|fireNumber)\}\}/g;

/**
 * Replaces placeholders in JSON text. They can only stand inside strings, because braces outside of
 * strings are never doubled this way. The facts need no escapes: ids have no quotes.
 */
export function fillPlaceholders(json: string, facts: FireFacts): string {
  return json.replaceAll(PLACEHOLDER, (_, name: keyof FireFacts) => facts[name]);
}

export function hasPlaceholders(json: string): boolean {
  return json.search(PLACEHOLDER) >= 0;
}
