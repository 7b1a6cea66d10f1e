import { type Command, HTTP_TASK_TYPE, type Replies } from '@sluice/core';
import type { EngineNotice } from '@sluice/engine';
import type { AppendOutcome, LogBatch, LogHold, LogTrim, StoredBatch } from '@sluice/log';
import { AgentFleet } from '../agents/agent-fleet.ts';
import { AGENT_TYPES } from '../agents/agent-life.ts';
import { Situations } from '../base/situations.ts';
import { Liveness } from '../checkers/liveness.ts';
import { makeCheckers } from '../checkers/make-checkers.ts';
import type { Callbacks } from '../checkers/rules/callbacks.ts';
import { HandlerRuns } from '../checkers/rules/handler-runs.ts';
import type { Checker } from '../checkers/story/checker.ts';
import { TASK_TYPES } from '../clients/draw-task.ts';
import { History } from '../clients/history.ts';
import { KnownRuns } from '../clients/known-runs.ts';
import { KnownSessions } from '../clients/known-sessions.ts';
import { KnownTasks } from '../clients/known-tasks.ts';
import { PeriodicClient } from '../clients/periodic-client.ts';
import { RunClient } from '../clients/run-client.ts';
import { SdkClient } from '../clients/sdk-client.ts';
import { type ClientParts, SimClient } from '../clients/sim-client.ts';
import { Simulation } from '../kernel/simulation.ts';
import { Network } from '../network/network.ts';
import type { PlannedFault } from '../plan/faults.ts';
import type { Mode } from '../plan/mode.ts';
import type { RunKill, WorldPlan } from '../plan/world-plan.ts';
import { SimReceivers } from '../receivers/sim-receivers.ts';
import { KnownSchedules } from '../schedules/known-schedules.ts';
import { ScheduleClient } from '../schedules/schedule-client.ts';
import { HostDisk } from '../server/host-disk.ts';
import { ServerHost, type ServerWatch } from '../server/server-host.ts';
import type { WatchedPartition } from '../server/watched-partition.ts';
import type { WorkerOffer } from '../workers/draw-offer.ts';
import { RogueWorker } from '../workers/rogue-worker.ts';
import { SdkWorker } from '../workers/sdk-worker.ts';
import type { SimWorker, WorkerParts } from '../workers/sim-worker.ts';

/**
 * In virtual time: one minute, five of the longest leases, and extra time for delays and backoff.
 */
const LIVENESS_BOUND_MS = 60_000 + 5 * 15_000 + 60_000;

/** One in this many clients submits through the SDK. */
const SDK_CLIENT_EVERY = 3;

/** Share of worlds that have a client which submits one task per period. */
const PERIODIC_RATE = 0.3;

/** Together, these workers can run every task. */
const FLAWLESS_OFFERS: readonly WorkerOffer[] = [{ zone: 'a' }, { zone: 'b', ssd: 'yes' }].map(
  (labels) => ({
    types: [...TASK_TYPES, ...AGENT_TYPES, HTTP_TASK_TYPE].map((type) => ({ type })),
    capacity: { slots: 50, cpu: 100, memoryMb: 100_000, gpu: 50 },
    labels: labels as Record<string, string>,
  }),
);

/** The worker inside the server that runs HTTP steps. */
const HTTP_OFFER: WorkerOffer = {
  types: [{ type: HTTP_TASK_TYPE }],
  capacity: { slots: 16 },
  leaseMs: 15_000,
};

type TornWrite = Extract<PlannedFault, { kind: 'server killed during a write' }>;

/** A server, its disk, workers, clients and a network, with all their faults. */
export class World implements ServerWatch {
  readonly simulation: Simulation;
  readonly situations = new Situations();
  readonly history = new History();
  private readonly plan: WorldPlan;
  private readonly network: Network;
  private readonly disk: HostDisk;
  private readonly host: ServerHost;
  private readonly workers: SimWorker[];
  /** Runs HTTP steps; undefined in worlds without runs. */
  private readonly http: SimWorker | undefined;
  private readonly clients: readonly (SimClient | SdkClient)[];
  private readonly periodic: PeriodicClient | undefined;
  /** Starts runs; undefined in worlds without them. */
  private readonly starter: RunClient | undefined;
  /** Changes schedules; undefined in worlds without them. */
  private readonly planner: ScheduleClient | undefined;
  /** Undefined in worlds without agents. */
  private readonly fleet: AgentFleet | undefined;
  /** One of the clients, which may run any operation. */
  private readonly operator: SimClient;
  private readonly checkers: readonly Checker[];
  private readonly workerParts: WorkerParts;
  private readonly liveness: Liveness;
  private readonly callbacks: Callbacks;
  private readonly projection: { heal(): void } | undefined;
  private readonly receivers: SimReceivers;
  private readonly sessions = new KnownSessions();
  private isHealed = false;

  constructor(plan: WorldPlan, print?: (line: string) => void) {
    this.plan = plan;
    this.simulation = new Simulation({
      seed: plan.seed,
      ...(print === undefined ? {} : { print }),
    });
    const { simulation, situations, history } = this;
    this.network = new Network(simulation, { ...plan.network }, situations);
    const { network } = this;
    const runs = new HandlerRuns(simulation);
    this.liveness = new Liveness(simulation);
    this.disk = new HostDisk({ simulation, plan, situations });
    const { disk } = this;
    const snapshots = () => disk.snapshots();
    const knownRuns = new KnownRuns();
    const knownSchedules = new KnownSchedules();
    const checked = { simulation, plan, history, runs, situations, snapshots };
    const made = makeCheckers({ ...checked, knownRuns, knownSchedules });
    this.checkers = [...made.checkers, this.liveness];
    const { projection, callbacks } = made;
    this.callbacks = callbacks;
    this.projection = projection;
    this.receivers = new SimReceivers(simulation, (message) => callbacks.heard(message));
    const { receivers } = this;
    const stateOf = (id: string) => made.answers.stateOf(id);
    const hostParts = { simulation, network, disk, plan, situations, projection, receivers };
    this.host = new ServerHost({ ...hostParts, stateOf, watch: this });
    this.host.boot();
    const parts = { simulation, network, situations };
    this.workerParts = { ...parts, runs };
    const { workerParts } = this;
    this.workers = [
      ...numbered(plan.rogues, 'rogue', (name) => new RogueWorker(workerParts, name)),
      ...numbered(plan.workers - plan.rogues, 'worker', (name) => new SdkWorker(workerParts, name)),
    ];
    this.http = plan.runs && new SdkWorker(workerParts, 'http', HTTP_OFFER, { fails: true });
    const known = new KnownTasks();
    const { sessions } = this;
    const everyMs = plan.requestEveryMs;
    const clientParts = { ...parts, history, known, sessions, everyMs };
    this.operator = new SimClient(clientParts, 'operator');
    this.clients = [
      this.operator,
      ...numbered(plan.clients - 1, 'client', (name, index) => {
        if (index % SDK_CLIENT_EVERY !== 0) return new SimClient(clientParts, name);
        return new SdkClient(clientParts, name, made.calls);
      }),
    ];
    this.starter =
      plan.runs === undefined
        ? undefined
        : new RunClient(clientParts, knownRuns, plan.runs.requestEveryMs);
    this.planner = plannerOf(plan, clientParts, knownSchedules);
    this.fleet = plan.agents && new AgentFleet(plan.agents, workerParts, clientParts);
    this.workers.push(...(this.fleet?.agents ?? []));
    const isPeriodic = simulation.random('is periodic').chance(PERIODIC_RATE);
    this.periodic = isPeriodic ? new PeriodicClient(clientParts, 'periodic') : undefined;
    for (const fault of plan.faults) simulation.after(fault.at, () => this.strike(fault));
    for (const kill of killsOf(plan, plan.runs)) {
      simulation.after(kill.at, () => this.killAmidRuns(kill));
    }
    for (const kill of killsOf(plan, plan.schedules)) {
      simulation.after(kill.at, () => !this.isHealed && this.host.killAfterFire(kill));
    }
  }

  /** Runs the whole plan; rejects with the first broken rule. */
  async run(mode: Mode): Promise<void> {
    await this.simulation.runUntil(this.plan.durationMs);
    if (mode === 'liveness') await this.healAndWait();
    for (const checker of this.checkers) checker.ended?.();
  }

  /** Stops all faults and all clients. Every task that can end must then end. */
  private async healAndWait(): Promise<void> {
    const { simulation, network, host, disk } = this;
    this.isHealed = true;
    simulation.log('world', 'is healed');
    for (const client of this.clients) client.stop();
    this.periodic?.stop();
    this.starter?.stop();
    this.planner?.stop();
    this.fleet?.heal();
    for (const worker of this.workers) worker.heal();
    this.http?.heal();
    network.heal();
    disk.heal();
    this.receivers.heal();
    host.heal();
    this.projection?.heal();
    for (const checker of this.checkers) checker.woken?.();
    for (const [index, offer] of FLAWLESS_OFFERS.entries()) {
      new SdkWorker(this.workerParts, `healer${index + 1}`, offer);
    }
    // Twice, because earlier requests, such as one that pauses a queue, may still be on their way.
    for (const delayMs of [0, 30_000]) {
      simulation.after(delayMs, () => {
        this.operator.resumeQueues(TASK_TYPES);
        this.planner?.deleteAll();
      });
    }
    await simulation.runUntil(simulation.now + LIVENESS_BOUND_MS);
    this.liveness.look(LIVENESS_BOUND_MS);
    this.callbacks.look();
    this.fleet?.look();
  }

  private strike(fault: PlannedFault): void {
    if (this.isHealed) return;
    this.situations.note(`fault: ${fault.kind}`);
    switch (fault.kind) {
      case 'server killed':
        this.host.kill(fault.isPowerLoss, fault.restartAfterMs, fault.clockShiftMs);
        break;
      case 'server killed during a write':
        this.host.killAmidWrite(fault.restartAfterMs, () => this.losePower(fault));
        break;
      case 'power lost during a rename':
        this.host.losePowerAmidRename(fault.restartAfterMs);
        break;
      case 'server stopped':
        this.host.pause(fault.forMs);
        break;
      case 'server stopped during a submit':
        this.host.pauseAmidSubmit(fault.beyondMs);
        break;
      case 'clock set':
        this.host.shiftClock(fault.byMs);
        for (const checker of this.checkers) checker.clockSet?.();
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
      case 'disk slow':
        this.disk.slowDown(fault.forMs);
        break;
      case 'disk full':
        this.disk.fill(fault.forMs);
        break;
      case 'disk error':
        this.disk.failOnce(fault.of);
        break;
      case 'snapshot rots':
        this.disk.rotSnapshot();
        if (fault.kills) this.host.kill(false, 1000, 0);
        break;
      case 'append unknown':
        this.disk.answerUnknown(fault.hasLanded);
        break;
      case 'log taken over':
        this.disk.takeOver();
        break;
      case 'worker told to stop':
        this.worker(fault.who).stop(fault.restartAfterMs);
        break;
    }
  }

  private killAmidRuns(kill: RunKill): void {
    if (!this.isHealed) this.host.killAmidRuns(kill);
  }

  private losePower({ restartAfterMs, powerLossAfterMs }: TornWrite): void {
    this.simulation.after(restartAfterMs + powerLossAfterMs, () => {
      if (!this.isHealed) this.host.kill(true, restartAfterMs, 0);
    });
  }

  private worker(who: number): SimWorker {
    return this.workers[who % this.workers.length];
  }

  private client(who: number): SimClient | SdkClient {
    return this.clients[who % this.clients.length];
  }

  booted(partition: WatchedPartition, hold: LogHold): void {
    for (const checker of this.checkers) checker.booted?.(partition, hold);
  }

  executed(command: Command, reply: unknown, partition: WatchedPartition): void {
    const { simulation } = this;
    simulation.log('core', `${command.type} ${JSON.stringify(reply) ?? ''}`);
    if (command.type === 'attach_session') {
      this.sessions.add((reply as Replies['attach_session']).session);
    }
    if (command.type === 'drain_session' && (reply as Replies['drain_session']).found) {
      this.situations.note('a worker was drained');
    }
    for (const checker of this.checkers) checker.executed?.(command, reply, partition);
  }

  answered(outcome: AppendOutcome): void {
    for (const checker of this.checkers) checker.answered?.(outcome);
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

  stalled(forMs: number): void {
    for (const checker of this.checkers) checker.stalled?.(forMs);
  }

  shown(id: string, json: string, askedAt: number): void {
    for (const checker of this.checkers) checker.shown?.(id, json, askedAt);
  }

  written(stream: object, bytes: Uint8Array): void {
    for (const checker of this.checkers) checker.written?.(stream, bytes);
  }

  noticed(notice: EngineNotice): void {
    for (const checker of this.checkers) checker.noticed?.(notice);
  }

  stopped(): void {
    for (const checker of this.checkers) checker.stopped?.();
  }
}

/** Not in calm worlds, and not where a kill would end a standstill. */
function killsOf(
  { faults }: WorldPlan,
  part: { readonly kills: readonly RunKill[] } | undefined,
): readonly RunKill[] {
  const isCalm = faults.length === 0;
  const standsStill = faults.some(({ kind }) => kind === 'server stopped during a submit');
  return part === undefined || isCalm || standsStill ? [] : part.kills;
}

function plannerOf(
  { schedules, runs }: WorldPlan,
  parts: ClientParts,
  known: KnownSchedules,
): ScheduleClient | undefined {
  if (schedules === undefined) return undefined;
  const options = { everyMs: schedules.requestEveryMs, hasRuns: runs !== undefined };
  return new ScheduleClient(parts, known, options);
}

function numbered<T>(count: number, kind: string, make: (name: string, index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(`${kind}${index + 1}`, index));
}
