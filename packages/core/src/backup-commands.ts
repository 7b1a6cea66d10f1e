import type { Author } from './access-commands.ts';

/** What an admin does about copies of everything. */
export type BackupCommand = RecordBackup | BeginAgain;

/** Somebody takes a copy of everything. It changes nothing but the record of changes. */
export interface RecordBackup {
  readonly type: 'record_backup';
  readonly now: number;
  readonly namespace: string;
  readonly by?: Author;
}

/**
 * The partition was restored from a copy of an earlier moment. Whatever workers do by leases of
 * before, it does not count here: they may be of a life that went on after that moment.
 */
export interface BeginAgain {
  readonly type: 'begin_again';
  readonly now: number;
  readonly namespace: string;
  /** How far the numbers of leases are to be from those of any other life. */
  readonly leasesSkipped: number;
  /** The same of deliveries: a receiver drops a message whose id it has seen. */
  readonly deliveriesSkipped: number;
  readonly by?: Author;
}

export interface BeginAgainReply {
  /** Tasks that somebody held. */
  readonly returned: number;
  /** When the last thing happened before. */
  readonly upTo: number;
}

export interface BackupCommandReplies {
  readonly record_backup: undefined;
  readonly begin_again: BeginAgainReply;
}
