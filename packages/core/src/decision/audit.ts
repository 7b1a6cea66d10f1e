import type { Decision } from './decision.ts';
/**
 * The author of a change, and how the audit record names the change. A command without an author
 * leaves no audit record.
 */
export interface Author {
  /** Id of a key, or a word for a caller that needed no key. */
  readonly actor: string;
  readonly address: string;
  readonly request: string;
  /** What is changed, by a name that people know. Never a secret. */
  readonly subject: string;
  readonly detail: string;
}

export interface Change {
  readonly namespace: string;
  readonly action: string;
}

/** Records the author of a change, in the same log record as the change. */
export function audit(
  { emit, events }: Decision,
  by: Author | undefined,
  { namespace, action }: Change,
): void {
  if (by === undefined) return;
  emit(Object.assign(events.auditRecorded, by, { namespace, action }));
}
