/**
 * The file system operations that the log and its snapshots need. `nodeDisk` is the real one; a
 * simulation has another.
 *
 * Decided elsewhere: which files exist, what is in them, and what a failure means for the log.
 *
 * Every implementation guarantees:
 * - Readers see what was written. It survives a crash of the machine once a sync has resolved,
 *   or the write itself where the file was opened as `durable`.
 * - A name that was made, changed or removed survives a crash once its folder was synced. Until
 *   then the crash leaves the old names or the new ones; a rename is never half done.
 * disk.error-codes: Errors have a `code` as Node's do. The log tells ENOENT, EEXIST, ENOSPC and
 *   EDQUOT apart.
 * - A path is absolute.
 */
export interface Disk {
  /** The names in a folder, in any order. */
  list(folder: string): Promise<string[]>;

  /** Rejects with ENOENT when the path does not exist. */
  stat(path: string): Promise<DiskUse>;

  /**
   * Created for its owner only; the parent must exist. Rejects with EEXIST when the name is taken.
   */
  makeFolder(path: string): Promise<void>;

  /** Replaces any file named `to`. */
  rename(from: string, to: string): Promise<void>;

  /** Removes a file. */
  remove(path: string): Promise<void>;

  /** Shortens a file, or extends it with zeros that use no space. */
  truncate(path: string, bytes: number): Promise<void>;

  /** Makes the names in a folder durable: creations, renames and removals. */
  syncFolder(folder: string): Promise<void>;

  open(path: string, mode: OpenMode): Promise<DiskFile>;

  /** For a process that does nothing else, and for the start, when no requests are served yet. */
  openSync(path: string, mode: 'read' | 'create'): SyncFile;

  /**
   * Takes the exclusive lock of a folder, which ends with the process at the latest; or says which
   * process has it.
   */
  lock(folder: string): Promise<FolderLock | FolderHeld>;

  /** The name of the network file system that the folder is on; undefined on a local disk. */
  networkFileSystemOf(folder: string): Promise<string | undefined>;
}

/**
 * - `read`: reads an existing file.
 * - `create`: writes to a new file, for its owner only, or empties an existing one first.
 * - `durable`: writes to an existing file; each write is durable before it completes.
 */
export type OpenMode = 'read' | 'create' | 'durable';

/** The length of a file, and how much of it is allocated on the disk. */
export interface DiskUse {
  readonly bytes: number;
  readonly allocatedBytes: number;
}

export interface DiskFile {
  /** Fills `target` from `position` on; returns how many bytes were read, which may be fewer. */
  read(target: Uint8Array, position: number): Promise<number>;

  /**
   * May write less than was requested. The bytes must not change until `done`. It uses a callback
   * because every commit goes through here, and a promise for each would cost too much.
   */
  write(bytes: Uint8Array, range: WriteRange, done: WriteDone): void;

  /** Makes content and length durable. */
  sync(): Promise<void>;

  close(): Promise<void>;
}

export interface WriteRange {
  /** Offset of the bytes in memory. */
  readonly offset: number;
  readonly length: number;
  /** Offset of the bytes in the file. */
  readonly position: number;
}

export type WriteDone = (error: Error | null, bytesWritten: number) => void;

/** A file with synchronous operations. */
export interface SyncFile {
  readonly bytes: number;
  read(target: Uint8Array, position: number): number;
  /** Appends to what was written before. May write less than was requested. */
  write(bytes: Uint8Array): number;
  sync(): void;
  close(): void;
}

export interface FolderLock {
  release(): Promise<void>;
}

/** Another process, or another part of this one, holds the lock of the folder. */
export interface FolderHeld {
  /** A description for people; undefined when unknown. */
  readonly holder: string | undefined;
}

/** Whether the error has one of these codes (disk.error-codes). */
export function hasCode(cause: unknown, ...codes: readonly string[]): boolean {
  const { code } = cause as { readonly code?: unknown };
  return typeof code === 'string' && codes.includes(code);
}
