import { type Disk, LogFailedError } from '@sluice/log';
import type { RandomStream } from '../../kernel/random.ts';
import { SimProcess } from '../../kernel/sim-process.ts';
import { Simulation } from '../../kernel/simulation.ts';
import { SimulatedDisk } from '../simulated-disk.ts';
import { LogLedger } from './log-ledger.ts';
import { LogServer } from './log-server.ts';

/** How a process ends, unless it ends by itself earlier. */
export interface LifePlan {
  /** The process is killed at this disk operation: before it begins, or during it. */
  readonly operation: number;
  readonly isUnderWay: boolean;
  /** Whether the machine loses power as well. */
  readonly isCrash: boolean;
}

export type LifeEnd = 'killed' | 'failed' | 'closed';

export interface LogLivesOptions {
  readonly seed: number;
  /** Whether the disk may fail, write partially or be full. */
  readonly hasFaults?: boolean;
  /** Wraps the disk of the log, to test that the bugs which the wrapper adds are noticed. */
  readonly wrap?: (disk: Disk) => Disk;
}

/** One machine on which servers start and die, one after the other. */
export class LogLives {
  private readonly simulation: Simulation;
  private readonly disk: SimulatedDisk;
  private readonly random: RandomStream;
  /** What all of the servers have promised. */
  readonly ledger = new LogLedger();
  private readonly hasFaults: boolean;
  private readonly wrap: (disk: Disk) => Disk;

  constructor({ seed, hasFaults = false, wrap = (disk) => disk }: LogLivesOptions) {
    this.simulation = new Simulation({ seed });
    this.disk = new SimulatedDisk({ random: this.simulation.random('disk') });
    this.random = this.simulation.random('story');
    this.hasFaults = hasFaults;
    this.wrap = wrap;
  }

  /** Throws when the process did not find exactly what was promised. */
  async live(steps: number, plan: LifePlan): Promise<LifeEnd> {
    const process = new SimProcess(this.simulation, 'server');
    let end: LifeEnd | undefined;
    let operations = 0;
    const kill = () => {
      if (end !== undefined) return;
      end = 'killed';
      process.kill();
      disk.kill();
    };
    const disk = this.disk.mount({
      schedule: process.after,
      observe: () => {
        operations += 1;
        if (operations !== plan.operation) return;
        if (plan.isUnderWay) this.simulation.after(this.random.next() * 0.3, kill);
        else kill();
      },
    });
    const { ledger, random, hasFaults, disk: machine } = this;
    const parts = { machine, disk: this.wrap(disk), process, ledger, random, hasFaults };
    LogServer.run(parts, steps).then(
      () => {
        end ??= 'closed';
      },
      (cause: Error) => {
        if (end !== undefined) return;
        end = 'failed';
        if (!isDiskFailure(cause)) this.simulation.fail(cause);
      },
    );
    while (end === undefined) await this.simulation.runUntil(this.simulation.now + 1);
    process.kill();
    disk.kill();
    if (plan.isCrash) this.disk.crash();
    return end;
  }

  randomSteps(): number {
    return this.random.integer(0, 80);
  }

  randomPlan(): LifePlan {
    const { random } = this;
    return {
      // A start takes about forty operations.
      operation: random.chance(0.3) ? random.integer(1, 60) : random.integer(40, 500),
      isUnderWay: random.chance(0.7),
      isCrash: random.chance(0.5),
    };
  }
}

/** Failures of the disk, which break no promise: the process starts again. */
function isDiskFailure(cause: Error): boolean {
  return cause instanceof LogFailedError || (cause as { code?: string }).code === 'EIO';
}
