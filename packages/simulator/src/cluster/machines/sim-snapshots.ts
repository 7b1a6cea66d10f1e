import type { NewSnapshot, SaveContent, SnapshotStore, StoredSnapshot } from '@sluice/log';
import type { SimDatabase } from '../database/sim-database.ts';

/** Snapshots in the tables of the database. A newer one than that which is saved stays. */
export class SimSnapshots implements SnapshotStore {
  private readonly database: SimDatabase;

  constructor(database: SimDatabase) {
    this.database = database;
  }

  async positions(): Promise<readonly number[]> {
    return [...this.tables().snapshots.keys()].toSorted((a, b) => b - a);
  }

  async open(position: number): Promise<StoredSnapshot> {
    const found = this.tables().snapshots.get(position);
    if (found === undefined) throw new Error(`there is no snapshot ${position}`);
    return { position, ...found };
  }

  async save({ position, schema, hash, base }: NewSnapshot, content: SaveContent): Promise<void> {
    const pieces: Uint8Array[] = [];
    content((piece) => pieces.push(Uint8Array.from(piece)));
    const { snapshots } = this.tables();
    snapshots.set(position, { schema, hash, pieces });
    for (const other of snapshots.keys()) if (other < base) snapshots.delete(other);
  }

  private tables() {
    if (this.database.isDown) throw new Error('the database is down');
    return this.database.tables;
  }
}
