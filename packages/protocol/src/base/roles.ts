/** What a key lets its holder do. A key has one role, and one namespace to use it in. */
export const ROLES = ['viewer', 'submitter', 'worker', 'operator', 'admin'] as const;

export type Role = (typeof ROLES)[number];

/**
 * Who may make a call, by what it is for. An admin may do everything: he could make himself a key
 * for it.
 */
export const ACCESS = {
  /** Looks at things and changes none. */
  read: ['viewer', 'submitter', 'operator', 'admin'],
  /** Submits tasks, and does something to tasks that are there. */
  submit: ['submitter', 'operator', 'admin'],
  /** Ends a task from outside: the one call that clients and handlers both make. */
  end: ['submitter', 'worker', 'operator', 'admin'],
  /** Brings a payload that is too big for another call, as clients and workers both do. */
  upload: ['submitter', 'worker', 'operator', 'admin'],
  /** Gets such a payload. */
  download: ['viewer', 'submitter', 'worker', 'operator', 'admin'],
  /** Is a worker. */
  work: ['worker', 'admin'],
  /** Changes what concerns all tasks of a type, or a worker. Each change leaves an audit record. */
  operate: ['operator', 'admin'],
  /** Decides who may do what, and sees who did. Each change leaves an audit record. */
  administer: ['admin'],
} as const satisfies Record<string, readonly Role[]>;

/** What a call is for; one that is open needs no key. */
export type Access = keyof typeof ACCESS | 'open';

export function mayCall(role: Role, access: Access): boolean {
  if (access === 'open') return true;
  const allowed: readonly Role[] = ACCESS[access];
  return allowed.includes(role);
}
