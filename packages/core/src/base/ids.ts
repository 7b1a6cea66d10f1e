declare const brand: unique symbol;

/** Index of a task in the columns of the task table. It is reused after the task is forgotten. */
export type Slot = number & { readonly [brand]: 'slot' };

/** Counts the tasks of a partition from 1; below 2^36, never reused. */
export type TaskNumber = number & { readonly [brand]: 'task' };

/** Counts the leases of a partition from 1; below 2^50, never reused. */
export type LeaseNumber = number & { readonly [brand]: 'lease' };

/** Index of a session in the table of lease holders. */
export type HolderIndex = number & { readonly [brand]: 'holder' };

/** Secret with which a worker proves that a session belongs to it. */
export type SessionId = string & { readonly [brand]: 'session' };

export const NO_SLOT = -1 as Slot;
export const NO_LEASE = 0 as LeaseNumber;
export const NO_HOLDER = -1 as HolderIndex;
