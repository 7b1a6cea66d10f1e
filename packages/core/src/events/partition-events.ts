import type { LeaseNumber } from '../base/ids.ts';
import { REQUEST_KEYS_LEVEL } from '../base/level.ts';
import { branded, claim, type EventDeclaration, number } from './fields.ts';

/** Events about the partition itself. */
export const PARTITION_EVENTS = {
  /** The window of a dedupe key has ended. `slot` is its entry, `task` the task of the key. */
  dedupe_forgotten: { number: 10, version: 1, fields: {} },

  /** The task of a key took the input of a later submit. `slot` is the entry of the key. */
  dedupe_input_changed: { number: 29, version: 1, fields: { dedupe: claim } },

  /**
   * The tasks of a submit are remembered by the key of its request. `slot` and `task` are those of
   * the first task; the others have the numbers that follow.
   */
  request_remembered: {
    number: 66,
    version: 1,
    level: REQUEST_KEYS_LEVEL,
    fields: { dedupe: claim },
  },

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
      /**
       * The snapshot schema at the time of the hash. Under another schema the hash is not compared.
       */
      schema: number,
      hash: number,
    },
  },
} as const satisfies Record<string, EventDeclaration>;
