/** How long a hold lasts unless it is renewed. */
export const HOLD_TTL = '5 seconds';

/**
 * The epoch of the next hold, of the column `epoch`. It follows the clock, so that a database that
 * went back in time does not give an epoch twice: an owner of the lost time would write into the
 * log of its successor.
 */
export const NEXT_EPOCH =
  'greatest(epoch + 1, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)';
