/**
 * What the log and its snapshots need of a file system. `nodeDisk` is the real one; a simulation
 * brings its own.
 *
 * Elsewhere: which files there are, what is in them, and what a failure means for the log.
 *
 * What an implementation has to keep:
 * - B1: What was written is what readers see. It survives a crash of the machine once a sync has
 *   answered, or the write itself where the file was opened as `durable`.
 * - B2: A name that was made, changed or removed survives a crash once its folder was synced. Until
 *   then the crash leaves the old names or the new ones; a rename is never half done.
 * - B3: Errors have a `code` as Node's do. The log tells ENOENT, EEXIST, ENOSPC and EDQUOT apart.
 * - B4: A path is absolute.
 */
export interface Disk {
  /** The names in a folder, in any order. */
  list(folder: string): Promise<string[]>;

  /** Rejects with ENOENT when there is nothing of that name. */
  stat(path: string): Promise<DiskUse>;

  /** For its owner only; what lies above it exists. Rejects with EEXIST when the name is taken. */
  makeFolder(path: string): Promise<void>;

  /** Takes the place of whatever has the name `to`. */
  rename(from: string, to: string): Promise<void>;

  /** Removes a file. */
  remove(path: string): Promise<void>;

  /** Cuts a file, or makes it longer by zeros that take no room. */
  truncate(path: string, bytes: number): Promise<void>;

  /** Makes the names in a folder durable: creations, renames and removals. */
  syncFolder(folder: string): Promise<void>;

  open(path: string, mode: OpenMode): Promise<DiskFile>;

  /** For a process that does nothing else, and for a start, when nobody is served yet. */
  openSync(path: string, mode: 'read' | 'create'): SyncFile;

  /**
   * The exclusive right to a folder, which ends with the process at the latest; or who has it.
   */
  lock(folder: string): Promise<FolderLock | FolderHeld>;

  /** The name of the network file system on which the folder is; undefined on a local disk. */
  networkFileSystemOf(folder: string): Promise<string | undefined>;
}

/**
 * - `read`: to read from a file that exists.
 * - `create`: to write to a new file, for its owner only, or to one that is emptied first.
 * - `durable`: to write to a file that exists, each write durable before it answers.
 */
export type OpenMode = 'read' | 'create' | 'durable';

/** How long a file is, and how much of it has room on the disk. */
export interface DiskUse {
  readonly bytes: number;
  readonly allocatedBytes: number;
}

export interface DiskFile {
  /** Fills `target` from `position` on; answers how much was there, which may be less. */
  read(target: Uint8Array, position: number): Promise<number>;

  /**
   * May write less than was asked for. The bytes must not change until `done`. It calls back
   * because this is the way of every commit, and a promise for each would be one too many.
   */
  write(bytes: Uint8Array, range: WriteRange, done: WriteDone): void;

  /** Makes bytes and length durable. */
  sync(): Promise<void>;

  close(): Promise<void>;
}

export interface WriteRange {
  /** Where in the memory the bytes begin. */
  readonly offset: number;
  readonly length: number;
  /** Where in the file they go. */
  readonly position: number;
}

export type WriteDone = (error: Error | null, bytesWritten: number) => void;

/** The same without waiting in between. */
export interface SyncFile {
  readonly bytes: number;
  read(target: Uint8Array, position: number): number;
  /** Behind what was written before. May write less than was asked for. */
  write(bytes: Uint8Array): number;
  sync(): void;
  close(): void;
}

export interface FolderLock {
  release(): Promise<void>;
}

/** Another process, or another part of this one, has the lock of the folder. */
export interface FolderHeld {
  /** In words, for people; undefined when nobody knows. */
  readonly holder: string | undefined;
}

/** Whether the disk failed for that reason (B3). */
export function hasCode(cause: unknown, ...codes: readonly string[]): boolean {
  const { code } = cause as { readonly code?: unknown };
  return typeof code === 'string' && codes.includes(code);
}
