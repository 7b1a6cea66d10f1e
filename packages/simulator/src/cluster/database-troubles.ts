import type { Situations } from '../base/situations.ts';
import type { RandomStream } from '../kernel/random.ts';
import type { Simulation } from '../kernel/simulation.ts';
import type { ClusterStory } from './cluster-story.ts';
import type { SimDatabase } from './database/sim-database.ts';
import { copyTables, type Tables } from './database/tables.ts';
import type { ClusterFault } from './plan/cluster-faults.ts';
import { type ClusterNetwork, DATABASE } from './wires/cluster-network.ts';

interface TroubleParts {
  readonly simulation: Simulation;
  readonly situations: Situations;
  readonly database: SimDatabase;
  readonly story: ClusterStory;
  readonly network: ClusterNetwork;
  readonly machineOf: (process: string) => Machine | undefined;
}

interface Machine {
  readonly name: string;
  pause(ms: number): void;
}

interface Backup {
  readonly at: number;
  readonly tables: Tables;
}

const BACKUP_MS = 20;
const BACKUPS_MAX = 600;

/** Until the replica has taken the place of the primary. */
const FAILOVER_MS = 300;

/** How long answers to an owner stay late after its stop. */
const SLOW_MS = 2_000;

const RAISE = 'UPDATE cluster SET level = greatest(level, (SELECT min(level) FROM server))';

/** What goes wrong with the database, and what its administrators do. */
export class DatabaseTroubles {
  private readonly parts: TroubleParts;
  private readonly random: RandomStream;
  private slow = { until: 0, ms: 0 };
  private isHealed = false;
  /** The newest claim, while such a fault waits for one. */
  private claim: { readonly at: number; readonly process: string } | undefined;
  /** Waits for the next claim. */
  private awaited: Extract<ClusterFault, { kind: 'database went back after a claim' }> | undefined;
  private readonly backups: Backup[] = [];

  constructor(parts: TroubleParts) {
    this.parts = parts;
    this.random = parts.simulation.random('database troubles');
  }

  /** What a statement takes longer now. */
  slownessMs(): number {
    const { until, ms } = this.slow;
    return this.parts.simulation.now < until ? ms * this.random.next() : 0;
  }

  heal(): void {
    const { database } = this.parts;
    this.isHealed = true;
    this.slow = { until: 0, ms: 0 };
    database.isDown = false;
    database.isReadOnly = false;
    database.freeReplica();
  }

  /** Remembers the tables again and again, to go back to them. */
  keepBackups(): void {
    const { simulation, database } = this.parts;
    this.backups.push({ at: simulation.now, tables: copyTables(database.tables) });
    if (this.backups.length > BACKUPS_MAX) this.backups.shift();
    simulation.after(BACKUP_MS, () => this.keepBackups());
  }

  raiseLevel(): void {
    const { database } = this.parts;
    const isUsable = !database.isDown && !database.isReadOnly && !database.isReplicaStuck;
    if (isUsable) database.queryAtOnce('operator', RAISE);
  }

  /** False when the fault is none of the database. */
  strike(fault: ClusterFault): boolean {
    const { simulation, database } = this.parts;
    switch (fault.kind) {
      case 'clock of the database set':
        database.clockOffsetMs += fault.byMs;
        return true;
      case 'database restarted':
        database.restart();
        this.comeBack(fault.forMs);
        return true;
      case 'database slow':
        this.slow = { until: simulation.now + fault.forMs, ms: fault.ms };
        return true;
      case 'database read-only':
        database.isReadOnly = true;
        simulation.after(fault.forMs, () => {
          database.isReadOnly = false;
        });
        return true;
      case 'replica stuck':
        this.stickReplica(fault);
        return true;
      case 'hand-off':
        if (!database.isDown && database.tables.hold.runId !== null) {
          database.tables.hold = { ...database.tables.hold, handOff: true };
        }
        return true;
      case 'database went back':
        this.goBack(fault.forMs, simulation.now - fault.ageMs);
        return true;
      case 'database went back after a claim':
        this.awaited = fault;
        return true;
      default:
        return false;
    }
  }

  private comeBack(afterMs: number): void {
    this.parts.simulation.after(afterMs, () => {
      this.parts.database.isDown = false;
    });
  }

  private stickReplica({ forMs, remedy }: Extract<ClusterFault, { kind: 'replica stuck' }>): void {
    const { simulation, database, situations, story } = this.parts;
    if (database.isReplicaStuck || database.isDown) return;
    database.stickReplica();
    if (remedy.startsWith('terminate')) {
      simulation.after(forMs * this.random.next(), () => {
        const count = database.isReplicaStuck ? database.terminateWaiting() : 0;
        if (count > 0) situations.note('a commit that waited for the replica was ended');
      });
    }
    simulation.after(forMs, () => {
      if (!database.isReplicaStuck) return;
      if (!remedy.endsWith('fail over')) return database.freeReplica();
      database.failOver();
      story.restored(false);
      simulation.log('database', 'the replica takes over');
      this.comeBack(FAILOVER_MS);
    });
  }

  /**
   * Called after each change of the tables. The first batch of a new owner is lost together with
   * its claim, and it hears late of both: another server may get the same epoch meanwhile.
   */
  committed(kind: string, process: string): void {
    const { awaited, claim } = this;
    if (awaited === undefined) return;
    const { simulation, network } = this.parts;
    if (kind.startsWith('claim')) this.claim = { at: simulation.now, process };
    if (!kind.startsWith('append') || claim?.process !== process) return;
    this.awaited = undefined;
    const machine = this.parts.machineOf(process);
    const { forMs, stopMs, slowMs } = awaited;
    simulation.after(0, () => {
      if (machine === undefined) return;
      machine.pause(stopMs);
      network.slowDown({ from: DATABASE, to: machine.name }, stopMs + SLOW_MS, slowMs);
      this.goBack(forMs, claim.at);
    });
  }

  /** To how it was before a time. */
  private goBack(forMs: number, before: number): void {
    const { simulation, database, story } = this.parts;
    const to = this.backups.findLast(({ at }) => at < before);
    if (to === undefined || this.isHealed) return;
    database.goBack(to.tables);
    story.restored(true);
    simulation.log('database', `went back by ${Math.round(simulation.now - to.at)} ms`);
    this.comeBack(forMs);
  }
}
