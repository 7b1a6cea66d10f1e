import type {
  NewSnapshot,
  SaveContent,
  SnapshotStore,
  StoredSnapshot,
} from '../contract/snapshot-store.ts';

/** Snapshots that last as long as this object: for tests and the simulator. */
export class MemorySnapshots implements SnapshotStore {
  readonly #snapshots = new Map<number, StoredSnapshot>();

  async positions(): Promise<readonly number[]> {
    return [...this.#snapshots.keys()].toSorted((a, b) => b - a);
  }

  async open(position: number): Promise<StoredSnapshot> {
    const snapshot = this.#snapshots.get(position);
    if (snapshot === undefined) throw new Error(`there is no snapshot at record ${position}`);
    return snapshot;
  }

  async save({ base, ...header }: NewSnapshot, content: SaveContent): Promise<void> {
    const pieces: Uint8Array[] = [];
    content((piece) => pieces.push(Uint8Array.from(piece)));
    this.#snapshots.set(header.position, { ...header, pieces });
    for (const position of await this.positions()) {
      if (position !== header.position && position !== base) this.#snapshots.delete(position);
    }
  }

  /** Replaces a snapshot, as a broken disk would. */
  replace(position: number, change: (snapshot: StoredSnapshot) => StoredSnapshot): void {
    const snapshot = this.#snapshots.get(position);
    if (snapshot === undefined) throw new Error(`there is no snapshot at record ${position}`);
    this.#snapshots.set(position, change(snapshot));
  }
}
