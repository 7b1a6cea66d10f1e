import type { Command } from '@sluice/core';
import type { EngineNotice } from '@sluice/engine';
import type { LogBatch, LogHold, LogTrim, StoredBatch } from '@sluice/log';
import type { Checker } from './checkers/checker.ts';
import { makeCheckers } from './checkers/make-checkers.ts';
import { History } from './clients/history.ts';
import { KnownTasks } from './clients/known-tasks.ts';
import { SimClient } from './clients/sim-client.ts';
import { Simulation } from './kernel/simulation.ts';
import { Network } from './network/network.ts';
import type { PlannedFault } from './plan/faults.ts';
import type { WorldPlan } from './plan/world-plan.ts';
import { MemoryDisk } from './server/memory-disk.ts';
import { ServerHost, type ServerWatch } from './server/server-host.ts';
import type { WatchedPartition } from './server/watched-partition.ts';
import { Situations } from './situations.ts';
import { RogueWorker } from './workers/rogue-worker.ts';
import type { SimWorker } from './workers/sim-worker.ts';

/** A server, its disk, workers, clients and a network, and everything that goes wrong with them. */
export class World implements ServerWatch {
  readonly simulation: Simulation;
  readonly situations = new Situations();
  readonly history = new History();
  private readonly plan: WorldPlan;
  private readonly network: Network;
  private readonly host: ServerHost;
  private readonly workers: SimWorker[];
  private readonly clients: SimClient[];
  private readonly checkers: readonly Checker[];

  constructor(plan: WorldPlan, print?: (line: string) => void) {
    this.plan = plan;
    this.simulation = new Simulation({
      seed: plan.seed,
      ...(print === undefined ? {} : { print }),
    });
    const { simulation, situations, history } = this;
    this.network = new Network(simulation, { ...plan.network }, situations);
    const { network } = this;
    this.checkers = makeCheckers({ simulation, plan, history });
    const disk = new MemoryDisk();
    this.host = new ServerHost({ simulation, network, disk, plan, situations, watch: this });
    this.host.boot();
    const parts = { simulation, network, situations };
    this.workers = numbered(plan.workers, 'worker', (name) => new RogueWorker(parts, name));
    const known = new KnownTasks();
    const everyMs = plan.requestEveryMs;
    this.clients = numbered(plan.clients, 'client', (name) => {
      return new SimClient({ ...parts, history, known, everyMs }, name);
    });
    for (const fault of plan.faults) simulation.after(fault.at, () => this.strike(fault));
  }

  /** Lets the whole plan happen; rejects with the first rule that does not hold. */
  async run(_mode: 'safety' | 'liveness'): Promise<void> {
    await this.simulation.runUntil(this.plan.durationMs);
    for (const checker of this.checkers) checker.ended?.();
  }

  private strike(fault: PlannedFault): void {
    this.situations.note(`fault: ${fault.kind}`);
    switch (fault.kind) {
      case 'server killed':
        this.host.kill(fault.isPowerLoss, fault.restartAfterMs, fault.clockShiftMs);
        break;
      case 'server stopped':
        this.host.pause(fault.forMs);
        break;
      case 'clock set':
        this.host.shiftClock(fault.byMs);
        break;
      case 'worker killed':
        this.worker(fault.who).kill(fault.isNoticed, fault.restartAfterMs);
        break;
      case 'worker stopped':
        this.worker(fault.who).process.pause(fault.forMs);
        break;
      case 'worker cut off':
        this.network.cutOff(this.worker(fault.who).process, fault.forMs, fault.breaks);
        break;
      case 'client cut off':
        this.network.cutOff(this.client(fault.who).process, fault.forMs, fault.breaks);
        break;
      default:
        break;
    }
  }

  private worker(who: number): SimWorker {
    return this.workers[who % this.workers.length];
  }

  private client(who: number): SimClient {
    return this.clients[who % this.clients.length];
  }

  booted(partition: WatchedPartition, hold: LogHold): void {
    for (const checker of this.checkers) checker.booted?.(partition, hold);
  }

  executed(command: Command, reply: unknown, partition: WatchedPartition): void {
    const { simulation } = this;
    simulation.log('core', `${command.type} ${JSON.stringify(reply) ?? ''}`);
    for (const checker of this.checkers) checker.executed?.(command, reply, partition);
  }

  committed(batch: LogBatch): void {
    for (const checker of this.checkers) checker.committed?.(batch);
  }

  read(batch: StoredBatch): void {
    for (const checker of this.checkers) checker.read?.(batch);
  }

  trimming(trim: LogTrim): void {
    for (const checker of this.checkers) checker.trimming?.(trim);
  }

  letOut(records: number, what: string): void {
    this.simulation.log('server', `lets out ${what}, ${records}`);
    for (const checker of this.checkers) checker.letOut?.(records, what);
  }

  noticed(notice: EngineNotice): void {
    for (const checker of this.checkers) checker.noticed?.(notice);
  }

  stopped(): void {
    for (const checker of this.checkers) checker.stopped?.();
  }
}

function numbered<T>(count: number, kind: string, make: (name: string) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(`${kind}${index + 1}`));
}
