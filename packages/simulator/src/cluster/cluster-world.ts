import { Situations } from '../base/situations.ts';
import { Linearizability } from '../checkers/linearizability/linearizability.ts';
import { Liveness } from '../checkers/liveness.ts';
import { HandlerRuns } from '../checkers/rules/handler-runs.ts';
import { TASK_TYPES } from '../clients/draw-task.ts';
import { History } from '../clients/history.ts';
import { KnownTasks } from '../clients/known-tasks.ts';
import { inProcess, inProcessAfter } from '../kernel/process-context.ts';
import { SimProcess } from '../kernel/sim-process.ts';
import { Simulation } from '../kernel/simulation.ts';
import type { Mode } from '../plan/mode.ts';
import { SdkWorker } from '../workers/sdk-worker.ts';
import type { WorkerParts } from '../workers/sim-worker.ts';
import { ClusterStory } from './cluster-story.ts';
import { SimDatabase } from './database/sim-database.ts';
import { DatabaseTroubles } from './database-troubles.ts';
import { ClusterMachine } from './machines/cluster-machine.ts';
import { acceptLossOf } from './machines/loss-operator.ts';
import { storeAddressOf } from './machines/store-address.ts';
import { ClusterClient } from './people/cluster-client.ts';
import { WorkerRoutes } from './people/worker-routes.ts';
import type { ClusterFault } from './plan/cluster-faults.ts';
import type { ClusterPlan } from './plan/cluster-plan.ts';
import { ClusterNetwork, DATABASE } from './wires/cluster-network.ts';
import { Exchanges } from './wires/exchange.ts';

/** After everything is healed, everything that can end has ended after this time. */
const LIVENESS_BOUND_MS = 90_000;

/** Everything that is simulated begins at this time. Its value does not matter. */
const EPOCH_MS = Date.UTC(2030, 0, 1);

const HEALER = {
  types: TASK_TYPES.map((type) => ({ type })),
  capacity: { slots: 50, cpu: 100, memoryMb: 100_000, gpu: 50 },
  labels: { zone: 'a', ssd: 'yes' },
};

/** After this time the database gives up a machine that it does not reach. */
const SESSION_LOST_MS = [2_000, 10_000] as const;

/** Delay before an operator notices halted servers. */
const HALTED_MS = 4_000;

/** So long servers are stopped while a loss is accepted. */
const ACCEPTING_MS = 10_000;

/** Several servers on one database, with workers, clients and a network. */
export class ClusterWorld {
  readonly simulation: Simulation;
  readonly situations = new Situations();
  private readonly plan: ClusterPlan;
  private readonly network: ClusterNetwork;
  private readonly database: SimDatabase;
  private readonly troubles: DatabaseTroubles;
  private readonly exchanges: Exchanges;
  private readonly machines: readonly ClusterMachine[];
  private readonly clients: readonly ClusterClient[];
  private readonly workers: readonly SdkWorker[];
  private readonly story: ClusterStory;
  private readonly history = new History();
  private readonly workerParts: WorkerParts;
  private isHealed = false;
  private isAccepting = false;
  private accepted = 0;
  /** The owner is stopped for this time when its next statement of the kind has happened. */
  private readonly stops = new Map<string, number>();

  constructor(plan: ClusterPlan, print?: (line: string) => void) {
    this.plan = plan;
    const simulation = new Simulation({
      seed: plan.seed,
      ...(print === undefined ? {} : { print }),
    });
    this.simulation = simulation;
    const { situations, history } = this;
    const runs = new HandlerRuns(simulation);
    this.network = new ClusterNetwork(simulation, plan.delayMs);
    this.exchanges = new Exchanges(this.network);
    const { network, exchanges } = this;
    this.story = new ClusterStory({
      ...{ simulation, situations, runs },
      database: () => this.database,
      onHalted: () => this.acceptLossSoon(),
      newestLevelOf: (process) => this.machineOf(process)?.newestLevel ?? Number.POSITIVE_INFINITY,
    });
    const { story } = this;
    const random = simulation.random('database');
    this.database = new SimDatabase({
      after: (delayMs, run) => simulation.after(delayMs, run),
      clock: () => EPOCH_MS + simulation.now,
      statementMs: () => 0.1 + random.next() + this.troubles.slownessMs(),
      onCommitted: (statement, session) => {
        story.committed(statement, session);
        this.troubles.committed(statement.kind, session.host);
        if (this.stops.size > 0) this.stopAmid(statement.kind, session.host);
      },
    });
    const { database } = this;
    this.troubles = new DatabaseTroubles({
      ...{ simulation, situations, database, story, network },
      machineOf: (process) => this.machineOf(process),
    });
    const parts = { simulation, plan, database, network, exchanges, situations, watch: story };
    this.machines = plan.servers.map((server, index) => {
      return new ClusterMachine(parts, { name: `server${index + 1}`, ...server });
    });
    for (const machine of this.machines) {
      simulation.after(random.next() * 500, () => machine.boot());
    }
    const servers = this.machines.map(({ name }) => name);
    const clientParts = { simulation, exchanges, history, servers, known: new KnownTasks() };
    const everyMs = plan.requestEveryMs;
    this.clients = Array.from({ length: plan.clients }, (_, index) => {
      return new ClusterClient({ ...clientParts, everyMs }, `client${index + 1}`);
    });
    const routes = new WorkerRoutes(simulation, exchanges, servers);
    // What a worker may run twice after a loss is not the servers' fault.
    const watched = {
      started: (...started: Parameters<HandlerRuns['started']>) => {
        if (!story.hasForgotten) runs.started(...started);
      },
      letGo: (lease: string) => runs.letGo(lease),
    };
    const fake = { network: routes as never, runs: watched as never };
    this.workerParts = { simulation, situations, ...fake };
    const { workerParts } = this;
    this.workers = Array.from({ length: plan.workers }, (_, index) => {
      return new SdkWorker(workerParts, `worker${index + 1}`, HEALER, { fails: true });
    });
    if (plan.faults.some(({ kind }) => kind.startsWith('database went')))
      this.troubles.keepBackups();
    for (const fault of plan.faults) simulation.after(fault.at, () => this.strike(fault));
  }

  /** Runs the whole plan; rejects with the first broken rule. */
  async run(mode: Mode): Promise<void> {
    await this.simulation.runUntil(this.plan.durationMs);
    if (mode === 'liveness') await this.healAndWait();
    const { simulation, situations, history, story } = this;
    const { entries } = history;
    story.ended(entries);
    // What was lost with the database explains nothing any more.
    if (!story.hasForgotten) new Linearizability({ simulation, situations, entries }).ended();
    if (mode === 'liveness') this.lookAtLiveness();
  }

  private async healAndWait(): Promise<void> {
    const { simulation, network } = this;
    this.isHealed = true;
    this.stops.clear();
    simulation.log('world', 'is healed');
    for (const client of this.clients) client.stop();
    for (const worker of this.workers) worker.heal();
    network.heal();
    this.troubles.heal();
    for (const machine of this.machines) {
      machine.heal();
      machine.boot();
    }
    new SdkWorker(this.workerParts, 'healer', HEALER);
    await simulation.runUntil(simulation.now + LIVENESS_BOUND_MS);
  }

  private lookAtLiveness(): void {
    const { simulation, story } = this;
    const owner = this.owner();
    simulation.check(
      owner !== undefined && owner.name === story.latest?.machine,
      'liveness',
      () => {
        return `${owner?.name} holds the partition, and ${story.latest?.machine} served last`;
      },
    );
    const liveness = new Liveness(simulation);
    liveness.booted(story.latest?.partition as never);
    liveness.look(LIVENESS_BOUND_MS);
  }

  private machineOf(process: string): ClusterMachine | undefined {
    return this.machines.find(({ name }) => process.startsWith(`${name}.`));
  }

  /** The machine that the tables name. */
  private owner(): ClusterMachine | undefined {
    const { address } = this.database.tables.hold;
    return this.machines.find(({ name }) => address === `http://${name}:80`);
  }

  private stopAmid(statement: string, process: string): void {
    for (const [kind, forMs] of this.stops) {
      if (!statement.startsWith(kind)) continue;
      this.stops.delete(kind);
      this.machineOf(process)?.pause(forMs);
    }
  }

  /** An operator stops all servers, accepts the loss, and starts them again. */
  private acceptLossSoon(): void {
    if (this.isAccepting) return;
    this.isAccepting = true;
    const { simulation, network, database, plan } = this;
    simulation.after(HALTED_MS, () => {
      for (const machine of this.machines) machine.kill(ACCEPTING_MS);
      this.accepted += 1;
      const host = `operator${this.accepted}`;
      const process = new SimProcess(simulation, host);
      const requestHttp = () => undefined;
      const context = { process, random: simulation.random(host), requestHttp };
      const hear = (run: () => void) => inProcess(context, run);
      const address = storeAddressOf({ database, network }, { host, process, hear });
      const attempt = (): void => {
        acceptLossOf({ address, database, plan, context }).then(
          (isDone) => {
            process.log(isDone ? 'accepted the loss' : 'waits until nobody owns the partition');
            if (!isDone) inProcessAfter(context, 500, attempt);
          },
          (cause: Error) => {
            process.log(cause.message);
            inProcessAfter(context, 500, attempt);
          },
        );
      };
      hear(attempt);
      simulation.after(ACCEPTING_MS, () => {
        process.kill();
        this.isAccepting = false;
      });
    });
  }

  private machine(who: number): ClusterMachine {
    return this.machines[who % this.machines.length];
  }

  private strike(fault: ClusterFault): void {
    if (this.isHealed) return;
    this.situations.note(`fault: ${fault.kind}`);
    this.simulation.log('world', JSON.stringify(fault));
    if (this.troubles.strike(fault)) return;
    switch (fault.kind) {
      case 'owner killed':
        this.owner()?.kill(fault.restartMs, fault.isSilent);
        break;
      case 'server killed':
        this.machine(fault.who).kill(fault.restartMs);
        break;
      case 'all killed':
        for (const machine of this.machines) machine.kill(fault.restartMs);
        break;
      case 'owner stopped':
        this.owner()?.pause(fault.forMs);
        break;
      case 'owner stopped during a renewal':
        this.stops.set('renew', fault.forMs);
        break;
      case 'owner stopped during a trim':
        this.stops.set('trim', fault.forMs);
        break;
      case 'server stopped':
        this.machine(fault.who).pause(fault.forMs);
        break;
      case 'owner cut from the database':
        this.cutOwner(fault);
        break;
      case 'link cut':
        this.cutLink(fault);
        break;
      case 'connections of the owner reset':
        this.database.breakAllOf(this.owner()?.current?.name ?? '');
        break;
      case 'clock set':
        this.machine(fault.who).shiftClock(fault.byMs);
        break;
      case 'level raised':
        this.raiseLevel();
        break;
      default:
        break;
    }
  }

  /** The answers of the database get slow before nothing comes any more. */
  private cutOwner(fault: Extract<ClusterFault, { kind: 'owner cut from the database' }>): void {
    const owner = this.owner();
    if (owner === undefined) return;
    const { slowMs, forMs, direction } = fault;
    const link = { from: DATABASE, to: owner.name };
    if (slowMs > 0) this.network.slowDown(link, slowMs, slowMs);
    this.simulation.after(slowMs, () => {
      if (!this.isHealed) this.cut({ one: owner, other: DATABASE, forMs, direction });
    });
  }

  private cutLink(fault: Extract<ClusterFault, { kind: 'link cut' }>): void {
    const { who, other, forMs, direction } = fault;
    const one = this.machine(who);
    const places = [DATABASE, ...this.machines.map(({ name }) => name)];
    this.cut({ one, other: places[other % places.length], forMs, direction });
  }

  private cut({ one, other, forMs, direction }: Cut): void {
    const { network, simulation } = this;
    if (direction !== 'back') network.cut(one.name, other, forMs);
    if (direction !== 'there') network.cut(other, one.name, forMs);
    if (other !== DATABASE) return;
    const [least, most] = SESSION_LOST_MS;
    const lostMs = least + (forMs % (most - least));
    const process = one.current?.name ?? '';
    simulation.after(lostMs, () => {
      const isSilent = network.isCut(one.name, DATABASE) || network.isCut(DATABASE, one.name);
      if (isSilent) this.database.breakAllOf(process);
    });
  }

  /** The machines get a version that knows the next level, and then it is raised. */
  private raiseLevel(): void {
    for (const machine of this.machines) machine.upgrade();
    this.troubles.raiseLevel();
  }
}

interface Cut {
  readonly one: ClusterMachine;
  readonly other: string;
  readonly forMs: number;
  readonly direction: 'both' | 'there' | 'back';
}
