/** Describes a snapshot; stored before its content. */
export interface SnapshotHeader {
  /** The snapshot covers all records of the log below this one. */
  readonly position: number;
  /** The schema of the content, a number defined by the core. */
  readonly schema: number;
  /** The hash of the state; the loader compares it with the loaded state. */
  readonly hash: number;
}

export interface NewSnapshot extends SnapshotHeader {
  /** The position of the snapshot that it was made from; 0 when there was none. */
  readonly base: number;
}

export interface StoredSnapshot extends SnapshotHeader {
  /**
   * The saved content, to be iterated once. A piece is valid until the next one is taken. Throws a
   * `SnapshotDamagedError` where the content differs from what was saved.
   */
  readonly pieces: Iterable<Uint8Array>;
}

/** Passes the content to `write`, piece by piece; each is valid until `write` returns. */
export type SaveContent = (write: (piece: Uint8Array) => void) => void;

/** Stores the snapshots of one partition. */
export interface SnapshotStore {
  /**
   * Positions of the stored snapshots, including damaged ones, newest first. The result is durable.
   */
  positions(): Promise<readonly number[]>;

  /** Rejects with a `SnapshotDamagedError` when the snapshot is incomplete or damaged. */
  open(position: number): Promise<StoredSnapshot>;

  /**
   * Saves a snapshot, all or nothing, and resolves once it is durable. If `content` throws, nothing
   * is saved.
   *
   * Only the snapshot that it was made from is kept beside it. That one was just read completely;
   * another may be damaged, and the log is trimmed by the snapshots that are left.
   */
  save(snapshot: NewSnapshot, content: SaveContent): Promise<void>;
}

/** The snapshot is torn, truncated or changed. An older one may be usable. */
export class SnapshotDamagedError extends Error {
  override readonly name = 'SnapshotDamagedError';

  constructor(where: string, finding: string) {
    super(`the snapshot '${where}' is damaged: ${finding}`);
  }
}
