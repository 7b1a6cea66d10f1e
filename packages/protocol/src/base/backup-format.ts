/**
 * The format of a backup stream: lines of JSON; the line of a piece is followed by its bytes. A
 * file consists of a `file` line, its pieces, and a `check` line. The stream ends with `end`;
 * without it, the backup is incomplete.
 *
 * On disk a backup is a folder with the same files and a manifest: the first line, one line per
 * file, and the last line.
 */

/** A reader refuses a higher format than its own. */
export const BACKUP_FORMAT = 1;

/** The name of the manifest in a folder that is a backup. */
export const BACKUP_MANIFEST = 'manifest.jsonl';

/** The first line of the stream and of the manifest. */
export interface BackupBegin {
  readonly kind: 'begin';
  readonly format: number;
  /** Version of the Sluice that made the backup. */
  readonly version: string;
  /** The backup contains everything that was acknowledged before this time. */
  readonly startedAt: string;
}

/** A line of the stream. */
export type BackupLine =
  | BackupBegin
  | { readonly kind: 'file'; readonly path: string; readonly bytes: number }
  /** This many bytes follow; they belong to the last named file. */
  | { readonly kind: 'piece'; readonly bytes: number }
  /** Hash of all pieces of the file. */
  | { readonly kind: 'check'; readonly sha256: string }
  /** Sent while the next file takes a while. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'end'; readonly files: number; readonly bytes: number }
  | { readonly kind: 'error'; readonly code: string; readonly message: string };

/** The line of a file in a manifest. */
export interface BackupFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** The last line of a manifest. Its hash covers the lines before it, with their line ends. */
export interface ManifestEnd {
  readonly kind: 'end';
  readonly files: number;
  readonly bytes: number;
  readonly finishedAt: string;
  readonly sha256: string;
}

/** The paths that a backup may contain, below the data folder. */
const PLACES = ['log/', 'snapshots/', 'projection/', 'task-logs/', 'blobs/', 'stats.json'];

/**
 * Whether a file may have this path. Checked so that a foreign backup cannot write outside of the
 * data folder.
 */
export function isBackupPath(path: unknown): path is string {
  if (typeof path !== 'string' || !/^[A-Za-z0-9@:._/-]{1,500}$/.test(path)) return false;
  const isBelow = path.split('/').every((part) => part !== '' && !/^\.+$/.test(part));
  return isBelow && PLACES.some((place) => place === path || path.startsWith(`${place}`));
}
