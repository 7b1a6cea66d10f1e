import type { Command } from '@sluice/core';
import {
  type CommittedFeed,
  Engine,
  type EngineNotice,
  type FeedOptions,
  type SnapshotOptions,
} from '@sluice/engine';
import type {
  AppendOutcome,
  BoundedLog,
  LogBatch,
  LogExtent,
  LogHold,
  LogTrim,
  StoredBatch,
} from '@sluice/log';
import {
  Admission,
  type Courier,
  Gateway,
  QueueRates,
  ServerOutputs,
  SteadyClock,
  TaskWaiters,
  TICK_MS,
  WorkerStreams,
} from '@sluice/server';
import type { Situations } from '../base/situations.ts';
import type { RandomStream } from '../kernel/random.ts';
import { SimProcess } from '../kernel/sim-process.ts';
import type { Simulation } from '../kernel/simulation.ts';
import type { ExchangeRequest } from '../network/exchange.ts';
import type { Listener, Network } from '../network/network.ts';
import type { ServerExchange } from '../network/server-exchange.ts';
import type { RunKill, WorldPlan } from '../plan/world-plan.ts';
import { isCausedByDisk, rootOf } from './end-causes.ts';
import type { HostDisk } from './host-disk.ts';
import { endsOf, partitionOptionsOf, sdkWindowMs, timersOf } from './host-options.ts';
import { carryOut, hasSeenState, requestsOf } from './requests.ts';
import { SIM_BLOBS } from './sim-blobs.ts';
import { type Receivers, simCourier } from './sim-courier.ts';
import { SimScripts } from './sim-scripts.ts';
import { type LogWatch, WatchedLog } from './watched-log.ts';
import { WatchedOutputs } from './watched-outputs.ts';
import { type PartitionWatch, WatchedPartition } from './watched-partition.ts';

/** What a server finds on its disk. */
export interface Storage {
  readonly log: BoundedLog;
  readonly extent: LogExtent;
  readonly snapshots?: SnapshotOptions;
}

/** Is told what the server does, to check it. */
export interface ServerWatch {
  booted(partition: WatchedPartition, hold: LogHold): void;
  executed(command: Command, reply: unknown, partition: WatchedPartition): void;
  answered(outcome: AppendOutcome): void;
  committed(batch: LogBatch): void;
  read(batch: StoredBatch): void;
  trimming(trim: LogTrim): void;
  /** Something leaves the server that may depend on the first `records` records. */
  letOut(records: number, what: string): void;
  /** A client that asked at `askedAt` is shown a task. `json` is the body of the answer. */
  shown(id: string, json: string, askedAt: number): void;
  /** Bytes are sent to a worker on the stream of its session. */
  written(stream: object, bytes: Uint8Array): void;
  noticed(notice: EngineNotice): void;
  /** The server process is paused for this time. */
  stalled(forMs: number): void;
  stopped(): void;
}

export interface HostParts {
  readonly simulation: Simulation;
  readonly network: Network;
  readonly disk: HostDisk;
  readonly plan: WorldPlan;
  readonly situations: Situations;
  readonly watch: ServerWatch;
  /** Follows the log of every server; undefined in worlds without a projection. */
  readonly projection: Projection | undefined;
  /** The last state of a task, as records keep it. */
  readonly stateOf: (id: string) => string | undefined;
  /** Receivers of callbacks. */
  readonly receivers: Receivers;
}

interface Projection {
  readonly feedOptions: FeedOptions;
  follow(feed: CommittedFeed, process: SimProcess): void;
}

/**
 * Files that a server keeps besides its log. The simulator does not check the lines that handlers
 * log.
 */
const FILES = { logs: { append: () => Promise.resolve() }, blobs: SIM_BLOBS };

/** A machine that runs the server, and restarts it when it ends. */
export class ServerHost {
  private readonly parts: HostParts;
  private readonly random: RandomStream;
  private process: SimProcess | undefined;
  private clockOffsetMs = 0;
  private boots = 0;
  /** How much longer than its keys the server pauses after its next submit; 0 for no pause. */
  private pauseBeyondKeysMs = 0;

  /** Waits for runs that have something to do. */
  private runKill: RunKill | undefined;
  /** Waits for the next fire of a schedule. */
  private fireKill: RunKill | undefined;
  private fires = 0;

  constructor(parts: HostParts) {
    this.parts = parts;
    this.random = parts.simulation.random('server');
  }

  get current(): SimProcess | undefined {
    return this.process;
  }

  boot(): void {
    this.boots += 1;
    const clock = { offsetMs: this.clockOffsetMs, drift: this.parts.plan.serverDrift };
    const process = new SimProcess(this.parts.simulation, `server${this.boots}`, clock);
    this.process = process;
    process.log('starts');
    this.start(process).catch((cause: Error) => this.ended(process, cause));
  }

  /** `clockShiftMs` is how far the machine's clock jumps before the restart. */
  kill(isPowerLoss: boolean, restartAfterMs: number, clockShiftMs: number): void {
    const { process } = this;
    if (process === undefined) return;
    process.kill();
    this.clockOffsetMs += clockShiftMs;
    this.gone(isPowerLoss, restartAfterMs);
  }

  /** Kills the server during its next write to the log; then calls `died`. */
  killAmidWrite(restartAfterMs: number, died: () => void): void {
    this.parts.disk.amidNext('write', () => {
      this.parts.situations.note('a server was killed during a write');
      this.kill(false, restartAfterMs, 0);
      died();
    });
  }

  losePowerAmidRename(restartAfterMs: number): void {
    this.parts.disk.amidNext('rename', () => {
      this.parts.situations.note('power was lost during a rename');
      this.kill(true, restartAfterMs, 0);
    });
  }

  /** Kills the server soon after a command that leaves something to do for runs. */
  killAmidRuns(kill: RunKill): void {
    this.runKill = kill;
  }

  /** Kills the server soon after a fire of a schedule. */
  killAfterFire(kill: RunKill): void {
    this.fireKill = kill;
  }

  private lookAtFires(process: SimProcess, { state }: WatchedPartition): void {
    const { fireKill } = this;
    const { used, fires } = state.schedules.table;
    const before = this.fires;
    this.fires = 0;
    for (let slot = 0; slot < used; slot++) this.fires += fires[slot];
    if (fireKill === undefined || this.fires <= before) return;
    this.fireKill = undefined;
    process.after(fireKill.afterMs, () => {
      this.parts.situations.note('a server was killed after a fire');
      this.kill(fireKill.isPowerLoss, fireKill.restartAfterMs, 0);
    });
  }

  private hasRunWork(process: SimProcess): void {
    const { runKill } = this;
    if (runKill === undefined) return;
    this.runKill = undefined;
    process.after(runKill.afterMs, () => {
      this.parts.situations.note('a server was killed during runs');
      this.kill(runKill.isPowerLoss, runKill.restartAfterMs, 0);
    });
  }

  pause(ms: number): void {
    this.process?.pause(ms);
    this.parts.watch.stalled(ms);
  }

  /**
   * Pauses the server when it has executed a submit of the SDK and has not answered it yet. The
   * pause lasts until the keys of that submit have expired, and `beyondMs` longer.
   */
  pauseAmidSubmit(beyondMs: number): void {
    this.pauseBeyondKeysMs = beyondMs;
  }

  shiftClock(ms: number): void {
    this.clockOffsetMs += ms;
    this.process?.shiftWall(ms);
    this.process?.log(`its clock is set by ${ms} ms`);
  }

  /** Wakes a paused process. */
  heal(): void {
    this.runKill = undefined;
    this.fireKill = undefined;
    this.pauseBeyondKeysMs = 0;
    this.process?.wake();
  }

  private gone(isPowerLoss: boolean, restartAfterMs: number): void {
    const { simulation, network, disk, watch } = this.parts;
    this.process = undefined;
    network.serverGone();
    disk.killed(isPowerLoss);
    watch.stopped();
    simulation.after(restartAfterMs, () => this.boot());
  }

  /** The process ended by itself, so its supervisor restarts it. */
  private ended(process: SimProcess, cause: Error): void {
    if (!process.alive || this.process !== process) return;
    const root = rootOf(cause);
    process.log(`ends: ${root.message}`);
    const isFenced = root.name === 'FencedError' && this.parts.disk.wasTakenOver;
    if (!isFenced && !isCausedByDisk(root)) {
      this.parts.simulation.fail(cause);
      return;
    }
    this.parts.situations.note(`the server ended: ${root.name}`);
    process.kill();
    this.gone(false, 1000);
  }

  private async start(process: SimProcess): Promise<void> {
    const { plan, disk, watch, network, situations, projection, receivers } = this.parts;
    const partitionOptions = partitionOptionsOf(plan);
    const storage = await disk.open(process, partitionOptions);
    let held: LogHold | undefined;
    const log = new WatchedLog(
      storage.log,
      this.logWatch((hold) => {
        held = hold;
      }),
    );
    const streams = new WorkerStreams();
    const rates = new QueueRates(process.monotonic);
    let partition: WatchedPartition | undefined;
    let courier: Courier | undefined;
    let scripts: SimScripts | undefined;
    const records = () => partition?.records ?? 0;
    const outputs = new WatchedOutputs(
      new ServerOutputs(streams, new TaskWaiters(), rates, {
        owed: (deliveries, state) => courier?.staged(deliveries, state),
        evaluate: (asked) => scripts?.evaluate(asked),
      }),
      records,
      (seen) => watch.letOut(seen, 'pushes'),
    );
    const clock = new SteadyClock(process);
    let gateway: Gateway | undefined;
    const engine = await Engine.start({
      ...storage,
      log,
      partition: partitionOptions,
      makePartition: (options) => {
        partition = new WatchedPartition(options, this.partitionWatch(process));
        return partition;
      },
      ...(projection === undefined ? {} : { feed: projection.feedOptions }),
      outputs,
      clock: () => clock.now(),
      onRecovered: (latest) => clock.notBefore(latest),
      nonce: () => Math.floor(this.random.next() * 2 ** 53),
      atEndOfTurn: (run) => void process.after(0, run),
      startTimer: timersOf(process, () => gateway?.beforeTimers()),
      graceMsMin: plan.graceMsMin,
      notify: (notice) => {
        situations.note(`notice: ${notice.type}`);
        watch.noticed(notice);
      },
      onStopped: (cause) => this.ended(process, cause),
    });
    if (partition === undefined || held === undefined) throw new Error('nothing was recovered');
    partition.records = held.tail;
    watch.booted(partition, held);
    if (engine.feed !== undefined) projection?.follow(engine.feed, process);
    const admission = new Admission(engine, log, { isOver: false });
    const now = { clock: () => clock.now(), random: this.random.next };
    const times = { ...now, monotonic: process.monotonic };
    const shared = { engine, admission, streams, rates, newSessionId: () => this.newSessionId() };
    gateway = new Gateway({ ...FILES, ...times, ...shared, ends: endsOf(this.parts) });
    const requests = requestsOf({ engine, admission, gateway, clock: now.clock });
    scripts = await SimScripts.begin(engine, process, this.random);
    courier = simCourier({ engine, gateway, process, ...now, receivers });
    await courier.begin();
    this.tick(process, gateway);
    const listener: Listener = {
      process,
      handle: (exchange) => this.handle(exchange, requests, partition as WatchedPartition),
    };
    network.listen(listener);
    process.log(`serves from record ${held.tail} on, epoch ${held.epoch}`);
  }

  private partitionWatch(process: SimProcess): PartitionWatch {
    const { watch } = this.parts;
    return {
      executed: (command, reply, partition) => {
        watch.executed(command, reply, partition);
        if (partition.state.runs.line.length > 0) this.hasRunWork(process);
        if (this.fireKill !== undefined) this.lookAtFires(process, partition);
      },
    };
  }

  private newSessionId(): string {
    return `s_${this.letters(24)}`;
  }

  private logWatch(acquired: (hold: LogHold) => void): LogWatch {
    const { watch, situations } = this.parts;
    return {
      acquired,
      answered: (outcome) => {
        situations.note(`an append was answered ${outcome}`);
        watch.answered(outcome);
      },
      committed: (batch) => watch.committed(batch),
      read: (batch) => watch.read(batch),
      trimming: (trim) => watch.trimming(trim),
    };
  }

  private tick(process: SimProcess, gateway: Gateway): void {
    process.after(TICK_MS, () => {
      gateway.tick();
      this.tick(process, gateway);
    });
  }

  private handle(
    exchange: ServerExchange,
    parts: Parameters<typeof carryOut>[0],
    partition: WatchedPartition,
  ): void {
    const { method, path } = exchange.request;
    const id = path.slice(path.lastIndexOf('/') + 1);
    const { now: askedAt } = this.parts.simulation;
    if (path === '/v1/worker-sessions') {
      exchange.tap = (bytes) => this.parts.watch.written(exchange, bytes);
    }
    const before = partition.records;
    const done = carryOut(parts, exchange);
    // The command was executed in this turn, so the answer cannot depend on later records.
    const seen = partition.records;
    const seenOfId = partition.touches.ofId(id) ?? seen;
    if (seen > before) this.pauseAfter(exchange.request);
    done.then(
      (answer) => {
        if (answer === undefined) return;
        const { status, body } = answer;
        const isView = method === 'GET' && status === 200;
        const records = isView ? seenOfId : seen;
        if (hasSeenState(answer)) this.parts.watch.letOut(records, `answer to ${method} ${path}`);
        if (isView) this.parts.watch.shown(id, body, askedAt);
        exchange.answer(answer);
      },
      (cause: Error) => this.parts.simulation.fail(cause),
    );
  }

  /** Called when part of this request is in the log. */
  private pauseAfter(request: ExchangeRequest): void {
    const windowMs = sdkWindowMs(request);
    if (this.pauseBeyondKeysMs === 0 || windowMs === undefined) return;
    this.parts.situations.note('a standstill during a submit that was stored');
    this.pause(windowMs + this.pauseBeyondKeysMs);
    this.pauseBeyondKeysMs = 0;
  }

  private letters(count: number): string {
    const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';
    return Array.from({ length: count }, () => this.random.pick([...alphabet])).join('');
  }
}
