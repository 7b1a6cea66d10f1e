import type { PartitionOptions } from '@sluice/core';
import { foldBetweenTurns } from '@sluice/engine';
import { FileLog, FileSnapshots, readLogFolder } from '@sluice/log';
import { FaultyLog } from '@sluice/log/testing/faulty-log';
import type { MountedDisk } from '../disk/mounted-disk.ts';
import { SimulatedDisk } from '../disk/simulated-disk.ts';
import type { RandomStream } from '../kernel/random.ts';
import type { SimProcess } from '../kernel/sim-process.ts';
import type { Simulation } from '../kernel/simulation.ts';
import type { WorldPlan } from '../plan/world-plan.ts';
import type { Situations } from '../situations.ts';
import type { Storage } from './server-host.ts';

const LOG_FOLDER = '/data/log';
const SNAPSHOT_FOLDER = '/data/snapshots';

/** What a full disk still has: nothing that a segment would fit into. */
const FULL_DISK_BYTES = 600;

/** A snapshot costs as much as there are tasks: with room for many, one is saved more rarely. */
const SNAPSHOT_BYTES_PER_TASK = 6;

/** Shorter than any write takes. */
const AMID_MS = 0.02;

export interface HostDiskParts {
  readonly simulation: Simulation;
  readonly plan: WorldPlan;
  readonly situations: Situations;
}

/** The disk of the server's machine, with the production log and snapshots on it. */
export class HostDisk {
  readonly disk: SimulatedDisk;
  private readonly parts: HostDiskParts;
  private readonly random: RandomStream;
  private mount: MountedDisk | undefined;
  private log: FaultyLog | undefined;
  /** What happens while the log is written to, or a file of it renamed, the next time. */
  private readonly amid = new Map<string, () => void>();
  /** Whether somebody else took the log over from the process that has it open. */
  wasTakenOver = false;
  /** Snapshots in which a bit has rotted: of two, one stays good. */
  private readonly rotten = new Set<string>();

  constructor(parts: HostDiskParts) {
    this.parts = parts;
    this.random = parts.simulation.random('disk faults');
    this.disk = new SimulatedDisk({ random: parts.simulation.random('disk') });
  }

  /** Opens what is there for a new process; rejects as a real disk makes it. */
  async open(process: SimProcess, partition: PartitionOptions): Promise<Storage> {
    const { segmentBytes, snapshotEveryBytes, limits } = this.parts.plan;
    const everyBytes = Math.max(snapshotEveryBytes, limits.tasksMax * SNAPSHOT_BYTES_PER_TASK);
    const observe = (operation: string, path: string) => this.observe(operation, path);
    const mount = this.disk.mount({ schedule: process.after, observe });
    this.mount = mount;
    const file = await FileLog.open({
      folder: LOG_FOLDER,
      segmentBytes,
      disk: mount,
      random: () => this.random.integer(0, 2 ** 32 - 1),
      startTimer: process.after,
    });
    this.log = new FaultyLog(file);
    this.wasTakenOver = false;
    const store = await FileSnapshots.open(SNAPSHOT_FOLDER, mount);
    const startFold = foldBetweenTurns({
      partition,
      snapshots: store,
      readLog: (range) => readLogFolder(LOG_FOLDER, range, mount),
    });
    return { log: this.log, snapshots: { store, startFold, everyBytes } };
  }

  /** Where those stand that are finished. */
  snapshots(): number[] {
    const names = this.disk
      .files(SNAPSHOT_FOLDER)
      .map((path) => path.slice(SNAPSHOT_FOLDER.length));
    return names.flatMap((name) => {
      const [, position] = /^\/(\d+)\.snapshot$/.exec(name) ?? [];
      return position === undefined ? [] : [Number(position)];
    });
  }

  /** The process that used it is gone; after a power loss so may be what was not synced. */
  killed(isPowerLoss: boolean): void {
    this.mount?.kill();
    this.log = undefined;
    if (isPowerLoss) this.disk.crash();
  }

  /** Runs something while the next operation of this kind on the log is under way. */
  amidNext(operation: 'write' | 'rename', run: () => void): void {
    this.amid.set(operation, run);
  }

  slowDown(ms: number): void {
    this.disk.faults.syncDelayMs = this.random.logarithmic(10, 5000);
    this.parts.simulation.after(ms, () => {
      this.disk.faults.syncDelayMs = 0;
    });
  }

  fill(ms: number): void {
    this.disk.capacityBytes = this.disk.usedBytes + this.random.integer(0, FULL_DISK_BYTES);
    this.parts.simulation.after(ms, () => {
      this.disk.capacityBytes = Number.POSITIVE_INFINITY;
    });
  }

  failOnce(of: 'write' | 'sync'): void {
    if (of === 'write') this.disk.faults.failWrite();
    else this.disk.faults.failSync();
  }

  /** One bit of one snapshot rots, if there is another that is good. */
  rotSnapshot(): void {
    // While one is saved there is a third, which is removed next; at first there is no folder.
    const snapshots = this.disk
      .files()
      .filter((path) => path.startsWith(`${SNAPSHOT_FOLDER}/`))
      .toSorted()
      .slice(-2);
    const good = snapshots.filter((path) => !this.rotten.has(path));
    if (good.length < 2) return;
    // The newest is the one that a start looks at.
    const newest = snapshots.at(-1);
    const isNewest = this.random.chance(0.7) && newest !== undefined && good.includes(newest);
    const path = isNewest ? newest : this.random.pick(good);
    this.rotten.add(path);
    this.disk.flip(path, this.random.integer(0, this.disk.findFile(path).bytes - 1));
    this.parts.situations.note('a bit of a snapshot rotted');
  }

  answerUnknown(hasLanded: boolean): void {
    this.log?.nextAnswersUnknown({ landed: hasLanded });
  }

  /** Somebody else takes the log over, so whoever holds it is fenced. */
  takeOver(): void {
    if (this.log !== undefined) this.wasTakenOver = true;
    this.parts.situations.note('the log was taken over');
    this.log?.acquire().catch(() => undefined);
  }

  heal(): void {
    this.amid.clear();
    this.disk.faults.syncDelayMs = 0;
    this.disk.capacityBytes = Number.POSITIVE_INFINITY;
  }

  private observe(operation: string, path: string): void {
    const run = this.amid.get(operation);
    if (run === undefined || !path.startsWith(LOG_FOLDER)) return;
    this.amid.delete(operation);
    this.parts.simulation.after(AMID_MS, run);
  }
}
