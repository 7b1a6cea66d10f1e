/**
 * The newest form of events and snapshots that this version can write. It counts up when an event,
 * a version of one, or a snapshot is added that the version before cannot read.
 *
 * level.waits: A partition writes nothing above its own level. So the servers of a cluster can be
 *   replaced one after the other, and older ones can take over again, until somebody raises the
 *   level.
 */
export const LEVEL = 2;

/** The level that remembers requests by keys. */
export const REQUEST_KEYS_LEVEL = 2;
