import { randomInt } from 'node:crypto';

/**
 * Lease numbers skip this far ahead. So they differ from those of a server that ran on after the
 * backup, and of any other restore of the same backup.
 */
const LEASES_SKIPPED_MIN = 2 ** 38;

/** The same for deliveries. Their ids have room for 2^36 numbers: more than a hundred restores. */
const DELIVERIES_SKIPPED_MIN = 2 ** 28;

/** How many numbers a partition skips that went back in time. */
export function skippedNumbers() {
  return {
    leasesSkipped: LEASES_SKIPPED_MIN + randomInt(LEASES_SKIPPED_MIN),
    deliveriesSkipped: DELIVERIES_SKIPPED_MIN + randomInt(DELIVERIES_SKIPPED_MIN),
  };
}
