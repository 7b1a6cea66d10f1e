/** What is said of a snapshot before its content. */
export interface SnapshotHeader {
  /** The snapshot stands for all records of the log below this one. */
  readonly position: number;
  /** Under which rules the content was made; a number of the core's. */
  readonly schema: number;
  /** The hash of the state, by which whoever loads it sees that it is the same. */
  readonly hash: number;
}

export interface NewSnapshot extends SnapshotHeader {
  /** The position of the snapshot that it was made from; 0 when there was none. */
  readonly base: number;
}

export interface StoredSnapshot extends SnapshotHeader {
  /**
   * The content, as it was saved; to be gone through once. A piece is valid until the next one is
   * taken. Throws a `SnapshotDamagedError` where the content is not what was saved.
   */
  readonly pieces: Iterable<Uint8Array>;
}

/** Hands the content to `write`, piece by piece; each is valid until `write` returns. */
export type SaveContent = (write: (piece: Uint8Array) => void) => void;

/** Where the snapshots of one partition are kept. */
export interface SnapshotStore {
  /**
   * Of the snapshots that are kept, damaged ones included; the newest first. What it answers is
   * durable.
   */
  positions(): Promise<readonly number[]>;

  /** Rejects with a `SnapshotDamagedError` when it is not one that was saved whole. */
  open(position: number): Promise<StoredSnapshot>;

  /**
   * Saves a snapshot, all or nothing, and answers once it is durable. What `content` throws ends it
   * without effect.
   *
   * The snapshot that it was made from stays beside it, and no other. That one was read whole a
   * moment ago; another may be damaged, and the log is trimmed by what is left.
   */
  save(snapshot: NewSnapshot, content: SaveContent): Promise<void>;
}

/** The snapshot is torn, cut short, or not as it was saved. An older one may do. */
export class SnapshotDamagedError extends Error {
  override readonly name = 'SnapshotDamagedError';

  constructor(where: string, finding: string) {
    super(`the snapshot '${where}' is damaged: ${finding}`);
  }
}
