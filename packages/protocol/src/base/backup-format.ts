/**
 * A backup as it travels: lines of JSON, and behind the line of a piece its bytes. A file is a line
 * of its own, its pieces, and a check. The whole ends with `end`; what ends otherwise is none.
 *
 * On a disk it is the same files in a folder, and a manifest with a line per file between the first
 * line and the last.
 */

/** A reader refuses what is above the one that it knows. */
export const BACKUP_FORMAT = 1;

/** The name of the manifest in a folder that is a backup. */
export const BACKUP_MANIFEST = 'manifest.jsonl';

/** The first line of both. */
export interface BackupBegin {
  readonly kind: 'begin';
  readonly format: number;
  /** Of the Sluice that made it. */
  readonly version: string;
  /** What was acknowledged before that is in it. */
  readonly startedAt: string;
}

/** A line of an answer. */
export type BackupLine =
  | BackupBegin
  | { readonly kind: 'file'; readonly path: string; readonly bytes: number }
  /** So many bytes follow, of the file that was named last. */
  | { readonly kind: 'piece'; readonly bytes: number }
  /** Of all pieces of the file. */
  | { readonly kind: 'check'; readonly sha256: string }
  /** The next file takes a while. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'end'; readonly files: number; readonly bytes: number }
  | { readonly kind: 'error'; readonly code: string; readonly message: string };

/** What a manifest says of a file. */
export interface BackupFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** The last line of a manifest: of the lines before it, with their ends. */
export interface ManifestEnd {
  readonly kind: 'end';
  readonly files: number;
  readonly bytes: number;
  readonly finishedAt: string;
  readonly sha256: string;
}

/** What a backup may hold, below the data folder. */
const PLACES = ['log/', 'snapshots/', 'projection/', 'task-logs/', 'blobs/', 'stats.json'];

/** Whether a file may have this path: nothing that comes from elsewhere is written elsewhere. */
export function isBackupPath(path: unknown): path is string {
  if (typeof path !== 'string' || !/^[A-Za-z0-9@:._/-]{1,500}$/.test(path)) return false;
  const isBelow = path.split('/').every((part) => part !== '' && !/^\.+$/.test(part));
  return isBelow && PLACES.some((place) => place === path || path.startsWith(`${place}`));
}
