import type { LeaseNumber } from '../base/ids.ts';
import { branded, type EventDeclaration, number } from './fields.ts';

/** Events about the partition itself. */
export const PARTITION_EVENTS = {
  /** The window of a dedupe key is over. `slot` is its entry, `task` the task it stood for. */
  dedupe_forgotten: { number: 10, version: 1, fields: {} },

  /** Lower numbers belong to leases and deliveries from before a restore. */
  numbers_skipped: {
    number: 63,
    version: 1,
    fields: { nextLease: branded<LeaseNumber>(), nextDelivery: number },
  },

  /** A hash of what the events since the last one changed. Replay compares it (L3). */
  state_hashed: {
    number: 64,
    version: 1,
    fields: {
      /** The snapshot schema under which it was made; under another one it says nothing. */
      schema: number,
      hash: number,
    },
  },
} as const satisfies Record<string, EventDeclaration>;
