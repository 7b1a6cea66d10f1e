import { type Command, Partition, SNAPSHOT_SCHEMA } from '@sluice/core';
import type { LogBatch, LogHold, StoredBatch } from '@sluice/log';
import type { RandomStream } from '../kernel/random.ts';
import type { Simulation } from '../kernel/simulation.ts';
import type { WatchedPartition } from '../server/watched-partition.ts';
import type { Checker } from './story/checker.ts';

/** States are compared once per this many commands, and after each restart. */
const COMMANDS_PER_LOOK = 1000;

/**
 * I31: what is durable, replayed from the beginning or from any state that was saved, gives the
 * state of the server that runs. I32: a state that is saved and loaded is the same.
 */
export class ReplayEquality implements Checker {
  readonly name = 'replay equality';
  private readonly simulation: Simulation;
  private readonly random: RandomStream;
  /** A partition that is fed only from the log. */
  private copy: Partition | undefined;
  private live: WatchedPartition | undefined;
  private tail = 0;
  private isBooting = true;
  private commands = 0;

  constructor(simulation: Simulation) {
    this.simulation = simulation;
    this.random = simulation.random('replay');
  }

  booted(partition: WatchedPartition, _hold: LogHold): void {
    this.copy ??= new Partition(partition.options);
    this.live = partition;
    this.isBooting = false;
    this.compare(partition);
  }

  stopped(): void {
    this.isBooting = true;
    this.live = undefined;
  }

  executed(_command: Command, _reply: unknown, partition: WatchedPartition): void {
    this.commands += 1;
    if (this.commands >= COMMANDS_PER_LOOK) this.compare(partition);
  }

  committed({ expectedTail, recordCount, bytes }: LogBatch): void {
    this.replay(expectedTail, recordCount, bytes);
  }

  read({ firstRecord, recordCount, bytes }: StoredBatch): void {
    if (this.isBooting && firstRecord >= this.tail) this.replay(firstRecord, recordCount, bytes);
  }

  ended(): void {
    if (this.live !== undefined) this.compare(this.live);
  }

  private replay(firstRecord: number, recordCount: number, bytes: Uint8Array): void {
    this.copy?.replay(bytes, firstRecord);
    this.tail = firstRecord + recordCount;
  }

  /** Compares only when everything in memory is durable. */
  private compare(live: WatchedPartition): void {
    if (live.records !== this.tail || this.copy === undefined) return;
    this.commands = 0;
    const hash = live.hashState();
    this.simulation.check(this.copy.hashState() === hash, 'I31', () => {
      return `the first ${this.tail} records give another state than the server has`;
    });
    const loaded = this.saveAndLoad(live, hash);
    if (this.random.chance(0.5)) this.copy = loaded;
  }

  private saveAndLoad(live: WatchedPartition, hash: number): Partition {
    const pieces: Uint8Array[] = [];
    live.save((piece) => pieces.push(Uint8Array.from(piece)));
    const loaded = new Partition(live.options);
    try {
      loaded.load({ schema: SNAPSHOT_SCHEMA, hash, pieces });
    } catch (cause) {
      this.simulation.check(false, 'I32', `a saved state is not loaded: ${String(cause)}`);
    }
    return loaded;
  }
}
