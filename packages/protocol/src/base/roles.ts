/** What a key allows. A key has one or more roles, and one namespace in which they apply. */
export const ROLES = ['viewer', 'submitter', 'worker', 'operator', 'admin'] as const;

export type Role = (typeof ROLES)[number];

/**
 * The roles that may make a call, by the call's purpose. An admin may do everything, because an
 * admin can create a key for any role.
 */
export const ACCESS = {
  /** Reads without changing anything. */
  read: ['viewer', 'submitter', 'operator', 'admin'],
  /** Submits tasks, and operates on existing tasks. */
  submit: ['submitter', 'operator', 'admin'],
  /** Ends a task from outside: the one call that clients and handlers both make. */
  end: ['submitter', 'worker', 'operator', 'admin'],
  /** Uploads a payload that is too big for another call; clients and workers both do that. */
  upload: ['submitter', 'worker', 'operator', 'admin'],
  /** Downloads such a payload. */
  download: ['viewer', 'submitter', 'worker', 'operator', 'admin'],
  /** Asks about the caller. Every key may do that. */
  self: ROLES,
  /** Acts as a worker. */
  work: ['worker', 'admin'],
  /**
   * Changes something for all tasks of a type, or for a worker. Each change leaves an audit record.
   */
  operate: ['operator', 'admin'],
  /** Manages access keys and reads the audit trail. Each change leaves an audit record. */
  administer: ['admin'],
} as const satisfies Record<string, readonly Role[]>;

/** The purpose of a call; an open call needs no key. */
export type Access = keyof typeof ACCESS | 'open';

export function mayCall(roles: readonly Role[], access: Access): boolean {
  if (access === 'open') return true;
  const allowed: readonly Role[] = ACCESS[access];
  return roles.some((role) => allowed.includes(role));
}
