import type { Decision } from './decision.ts';
/**
 * Who wants a change, and how it is to be called in the record of it. A command that has no author
 * leaves none.
 */
export interface Author {
  /** Id of a key, or a word for whoever needed none. */
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

/** Puts down who made a change, in the record of the change itself. */
export function audit(
  { emit, events }: Decision,
  by: Author | undefined,
  { namespace, action }: Change,
): void {
  if (by === undefined) return;
  emit(Object.assign(events.auditRecorded, by, { namespace, action }));
}
