/** What clients and servers agree on about the owner of a cluster's partition. */

/** Header of answers that a server passed on: the address of the owner that produced the answer. */
export const OWNER_HEADER = 'sluice-owner';

/** The address at which a server of a cluster says which process it is. */
export const ROLE_PATH = '/health/role';

/** What it answers. */
export interface ServerRole {
  readonly runId: string;
  readonly role: 'owner' | 'standby';
  /** Of an owner's hold: of two owners, the one with the later epoch replaced the other. */
  readonly epoch?: number;
}
