import type { EngineNotice } from '@sluice/engine';
import type { AppendOutcome, LogBatch, LogHold, LogTrim, StoredBatch } from '@sluice/log';
import type { Simulation } from '../kernel/simulation.ts';
import type { WatchedPartition } from '../server/watched-partition.ts';
import type { Checker } from './story/checker.ts';

/**
 * I29: what anybody can have seen is durable when it gets out, and there after every crash, byte by
 * byte.
 * I30: a server that learns that another one took its log over lets nothing out any more.
 * I28: epochs grow, records follow each other without a gap.
 * I33: the log is kept from the older of the two newest snapshots on.
 */
export class Durability implements Checker {
  readonly name = 'durability';
  private readonly simulation: Simulation;
  private readonly snapshots: () => readonly number[];
  /** Number of records that the log called durable, over all restarts. */
  private committedTail = 0;
  private epoch = 0;
  /** The simulation step in which the server learned that it lost its log. */
  private fencedIn = Number.POSITIVE_INFINITY;
  /** A hash of the bytes of each durable batch, by its first record. */
  private readonly hashes = new Map<number, number>();

  /** `snapshots` returns the positions of the snapshots on the disk, in any order. */
  constructor(simulation: Simulation, snapshots: () => readonly number[]) {
    this.simulation = simulation;
    this.snapshots = snapshots;
  }

  booted(_partition: WatchedPartition, hold: LogHold): void {
    const { simulation, committedTail, epoch } = this;
    simulation.check(hold.tail >= committedTail, 'I29', () => {
      return `${committedTail} records were durable, and the log comes back with ${hold.tail}`;
    });
    simulation.check(hold.epoch > epoch, 'I28', `epoch ${hold.epoch} follows ${epoch}`);
    this.committedTail = hold.tail;
    this.epoch = hold.epoch;
    this.fencedIn = Number.POSITIVE_INFINITY;
  }

  committed({ expectedTail, recordCount, epoch, bytes }: LogBatch): void {
    const { simulation, committedTail } = this;
    simulation.check(expectedTail === committedTail, 'I28', () => {
      return `a batch lands at ${expectedTail}, and the log ends at ${committedTail}`;
    });
    simulation.check(epoch === this.epoch, 'I28', `epoch ${epoch} writes in ${this.epoch}`);
    this.committedTail += recordCount;
    this.hashes.set(expectedTail, hashOf(bytes));
  }

  read({ firstRecord, bytes }: StoredBatch): void {
    const hash = this.hashes.get(firstRecord) ?? hashOf(bytes);
    this.simulation.check(hashOf(bytes) === hash, 'I29', () => {
      return `the batch at ${firstRecord} is not what was durable there`;
    });
    this.hashes.set(firstRecord, hash);
  }

  answered(outcome: AppendOutcome): void {
    if (outcome === 'fenced') this.fencedIn = this.simulation.steps;
  }

  letOut(records: number, what: string): void {
    // Output that was released earlier in the same step may still be on its way out.
    const isFenced = this.simulation.steps > this.fencedIn;
    this.simulation.check(!isFenced, 'I30', `${what}, of a server that is fenced`);
    this.simulation.check(records <= this.committedTail, 'I29', () => {
      return `${what} can have seen record ${records}, and ${this.committedTail} are durable`;
    });
  }

  trimming({ upTo }: LogTrim): void {
    // This includes a snapshot whose maker was killed before it could report it.
    const [, older = 0] = this.snapshots().toSorted((a, b) => b - a);
    this.simulation.check(upTo <= older, 'I33', () => {
      return `the log is trimmed up to ${upTo}, and the older snapshot stands at ${older}`;
    });
  }

  noticed(notice: EngineNotice): void {
    if (notice.type !== 'snapshot_saved') return;
    const { position } = notice;
    this.simulation.check(position <= this.committedTail, 'I29', () => {
      return `a snapshot holds ${position} records, and ${this.committedTail} are durable`;
    });
  }
}

/** FNV-1a. */
function hashOf(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < bytes.length; i++) hash = Math.imul(hash ^ bytes[i], 0x01000193);
  return hash >>> 0;
}
