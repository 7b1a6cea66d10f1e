import type { PartitionOptions } from '@sluice/core';
import { foldBetweenTurns } from '@sluice/engine';
import { FileLog, FileSnapshots, readLogFolder } from '@sluice/log';
import { FaultyLog } from '@sluice/log/testing/faulty-log';
import type { Situations } from '../base/situations.ts';
import type { MountedDisk } from '../disk/mounted-disk.ts';
import { SimulatedDisk } from '../disk/simulated-disk.ts';
import type { RandomStream } from '../kernel/random.ts';
import type { SimProcess } from '../kernel/sim-process.ts';
import type { Simulation } from '../kernel/simulation.ts';
import type { WorldPlan } from '../plan/world-plan.ts';
import type { Storage } from './server-host.ts';

const LOG_FOLDER = '/data/log';
const SNAPSHOT_FOLDER = '/data/snapshots';

/** Free space on a full disk: no segment fits into it. */
const FULL_DISK_BYTES = 600;

/**
 * The cost of a snapshot grows with the number of tasks, so larger worlds save them more rarely.
 */
const SNAPSHOT_BYTES_PER_TASK = 6;

/** Shorter than any write. */
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
  /** Functions to run during the next write or rename of a log file. */
  private readonly during = new Map<string, () => void>();
  /** Whether another owner took over the log from the process that has it open. */
  wasTakenOver = false;
  /** Snapshots with a flipped bit. One of the two newest always stays good. */
  private readonly rotten = new Set<string>();

  constructor(parts: HostDiskParts) {
    this.parts = parts;
    this.random = parts.simulation.random('disk faults');
    this.disk = new SimulatedDisk({ random: parts.simulation.random('disk') });
  }

  /** Opens the existing files for a new process; rejects when the disk fails. */
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
    return { log: this.log, extent: file.extent, snapshots: { store, startFold, everyBytes } };
  }

  /** Positions of the finished snapshots. */
  snapshots(): number[] {
    const names = this.disk
      .files(SNAPSHOT_FOLDER)
      .map((path) => path.slice(SNAPSHOT_FOLDER.length));
    return names.flatMap((name) => {
      const [, position] = /^\/(\d+)\.snapshot$/.exec(name) ?? [];
      return position === undefined ? [] : [Number(position)];
    });
  }

  /** The process that used the disk ended. A power loss may also lose data that was not synced. */
  killed(isPowerLoss: boolean): void {
    this.mount?.kill();
    this.log = undefined;
    if (isPowerLoss) this.disk.crash();
  }

  /** Runs a function during the next operation of this kind on the log. */
  amidNext(operation: 'write' | 'rename', run: () => void): void {
    this.during.set(operation, run);
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

  /** Flips one bit in one of the two newest snapshots, if both are good. */
  rotSnapshot(): void {
    // During a save there is a third snapshot, which is removed next. At first there is no folder.
    const snapshots = this.disk
      .files()
      .filter((path) => path.startsWith(`${SNAPSHOT_FOLDER}/`))
      .toSorted()
      .slice(-2);
    const good = snapshots.filter((path) => !this.rotten.has(path));
    if (good.length < 2) return;
    // A start reads the newest snapshot.
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

  /** Another owner acquires the log, which fences the current holder. */
  takeOver(): void {
    if (this.log !== undefined) this.wasTakenOver = true;
    this.parts.situations.note('the log was taken over');
    this.log?.acquire().catch(() => undefined);
  }

  heal(): void {
    this.during.clear();
    this.disk.faults.syncDelayMs = 0;
    this.disk.capacityBytes = Number.POSITIVE_INFINITY;
  }

  private observe(operation: string, path: string): void {
    const run = this.during.get(operation);
    if (run === undefined || !path.startsWith(LOG_FOLDER)) return;
    this.during.delete(operation);
    this.parts.simulation.after(AMID_MS, run);
  }
}
