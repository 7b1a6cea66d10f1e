declare const brand: unique symbol;

/** Place of a task in the columns of the task table; used again once the task was forgotten. */
export type Slot = number & { readonly [brand]: 'slot' };

/** Counts the tasks of a partition from 1; below 2^36, never used again. */
export type TaskNumber = number & { readonly [brand]: 'task' };

/** Counts the leases of a partition from 1; below 2^50, never used again. */
export type LeaseNumber = number & { readonly [brand]: 'lease' };

/** Place of a session in the table of lease holders. */
export type HolderIndex = number & { readonly [brand]: 'holder' };

/** Secret that a worker shows to prove that a session is its own. */
export type SessionId = string & { readonly [brand]: 'session' };

export const NO_SLOT = -1 as Slot;
export const NO_LEASE = 0 as LeaseNumber;
export const NO_HOLDER = -1 as HolderIndex;
