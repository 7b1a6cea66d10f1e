import { HoldStore, Notes, PostgresLog } from '@sluice/postgres';
import { type ClusterParts, ClusterServer, Forwarder, LOSS_NOTE } from '@sluice/server/cluster';
import type { Situations } from '../../base/situations.ts';
import { inProcess, type ProcessContext } from '../../kernel/process-context.ts';
import { uuidIn } from '../../kernel/process-globals.ts';
import { SimProcess } from '../../kernel/sim-process.ts';
import type { Simulation } from '../../kernel/simulation.ts';
import type { SimDatabase } from '../database/sim-database.ts';
import { type ClusterPlan, FIRST_LEVEL } from '../plan/cluster-plan.ts';
import { type ClusterNetwork, DATABASE } from '../wires/cluster-network.ts';
import type { Exchanges, SimIncoming, SimResponse } from '../wires/exchange.ts';
import { requestOn } from '../wires/sim-http.ts';
import { type HostWatch, simMakers } from './cluster-host.ts';
import { storeAddressOf } from './store-address.ts';

export interface MachineParts {
  readonly simulation: Simulation;
  readonly plan: ClusterPlan;
  readonly database: SimDatabase;
  readonly network: ClusterNetwork;
  readonly exchanges: Exchanges;
  readonly situations: Situations;
  readonly watch: HostWatch;
}

export interface MachineOptions {
  readonly name: string;
  /** The newest level that its version of Sluice knows. */
  readonly newestLevel: number;
  readonly clock: { readonly offsetMs: number; readonly drift: number };
}

/** Signs what the servers say to each other. */
const SECRET = Buffer.from('the secret of a simulated cluster');

const RESTART_MS = 500;

const UPGRADE_MS = 1_000;

/** After this time the database notices that a machine is gone. */
const KEEP_ALIVE_MS = 20_000;

/** A machine that runs a server of the cluster, and starts it again when it ends. */
export class ClusterMachine {
  readonly name: string;
  newestLevel: number;
  private readonly parts: MachineParts;
  private readonly options: MachineOptions;
  private boots = 0;
  private process: SimProcess | undefined;
  private server: ClusterServer | undefined;
  /** Its version is too old for the cluster, so it stays down. */
  isTooOld = false;

  constructor(parts: MachineParts, options: MachineOptions) {
    this.parts = parts;
    this.options = options;
    this.name = options.name;
    this.newestLevel = options.newestLevel;
  }

  get current(): SimProcess | undefined {
    return this.process;
  }

  boot(): void {
    if (this.process !== undefined || this.isTooOld) return;
    this.boots += 1;
    const { simulation, exchanges } = this.parts;
    const name = `${this.name}.${this.boots}`;
    const process = new SimProcess(simulation, name, this.options.clock);
    this.process = process;
    process.log('starts');
    const party = { host: this.name, hear: (run: () => void) => inProcess(context, run) };
    const context: ProcessContext = {
      process,
      random: simulation.random(name),
      requestHttp: requestOn(exchanges, party, (name) => {
        this.parts.watch.passesOn(this.name, name);
      }) as never,
    };
    inProcess(context, () => {
      this.start(context, party.hear).catch((cause: Error) => this.ended(process, cause));
    });
  }

  /** kill -9, or the loss of the machine: then nobody says goodbye to the database. */
  kill(restartAfterMs: number, isSilent = false): void {
    const { process } = this;
    if (process === undefined) return;
    process.kill();
    this.gone(isSilent);
    this.parts.simulation.after(restartAfterMs, () => this.boot());
  }

  pause(ms: number): void {
    this.process?.pause(ms);
  }

  heal(): void {
    this.process?.wake();
  }

  /** Stops properly, and starts again with a version that knows the next level. */
  upgrade(): void {
    if (this.newestLevel > FIRST_LEVEL) return;
    const { database, simulation } = this.parts;
    this.newestLevel = FIRST_LEVEL + 1;
    const { servers } = database.tables;
    const address = `http://${this.name}:80`;
    for (const row of servers.values()) if (row.address === address) servers.delete(row.runId);
    if (this.process === undefined) return;
    this.kill(UPGRADE_MS);
    simulation.log(this.name, 'is upgraded');
  }

  shiftClock(ms: number): void {
    this.process?.shiftWall(ms);
  }

  private gone(isSilent: boolean): void {
    const { simulation, database, network, exchanges } = this.parts;
    const name = this.process?.name ?? '';
    this.process = undefined;
    this.server = undefined;
    exchanges.gone(this.name);
    const leave = () => database.leaveAllOf(name);
    if (isSilent) simulation.after(KEEP_ALIVE_MS, leave);
    else network.pipe(this.name, DATABASE)(leave);
  }

  private ended(process: SimProcess, cause: Error): void {
    if (!process.alive || this.process !== process) return;
    process.log(`ends: ${cause.message}`);
    this.isTooOld = cause.name === 'StoreLevelError';
    this.parts.situations.note(`a server ended: ${cause.name}`);
    this.kill(RESTART_MS);
  }

  private async start(context: ProcessContext, hear: (run: () => void) => void): Promise<void> {
    const { simulation, plan, exchanges } = this.parts;
    const { process } = context;
    const { newestLevel } = this;
    const address = storeAddressOf(this.parts, { host: this.name, process, hear });
    const runId = uuidIn(context);
    const reader = await PostgresLog.open({ address });
    const holds = new HoldStore(address, runId);
    const { level } = await holds.look();
    if (level > newestLevel) {
      throw Object.assign(new Error(`level ${level}`), { name: 'StoreLevelError' });
    }
    const notes = new Notes(address);
    const generation = (await notes.read(LOSS_NOTE)) ?? '';
    let server: ClusterServer | undefined;
    const clock = () => server?.now() ?? process.wall();
    const forwarder = new Forwarder({
      owner: () => server?.answering,
      guard: { check: () => undefined },
      bodyBytesMax: 2 ** 20,
      desk: { newRequestId: () => 'q_0', refused: () => undefined },
      ...{ runId, clock, secret: SECRET },
    });
    const options = {
      version: String(newestLevel),
      onFatal: (cause: Error) => simulation.after(0, () => this.ended(process, cause)),
    };
    const log = {
      line: (_: string, text: string, more = {}) => {
        process.log(`${text} ${JSON.stringify(more)}`);
        if (text.startsWith('the database went back')) this.parts.watch.halted(this.name);
      },
      refused: () => undefined,
    };
    const parts = {
      ...{ options, address, runId, reader, holds, notes, generation, log, forwarder },
      ...{ scratch: '', watcher: undefined, newestLevel, hopTrust: { secret: SECRET, clock } },
      listener: { close: (closed: () => void) => closed() },
      makers: simMakers({ ...this.parts, context, machine: this.name, plan }),
    } as unknown as ClusterParts;
    server = new ClusterServer(parts, `http://${this.name}:80`);
    this.server = server;
    exchanges.listen({
      host: this.name,
      hear,
      handle: (request, response) => this.handle(request, response),
    });
    server.begin();
  }

  private handle(request: SimIncoming, response: SimResponse): void {
    this.parts.watch.arrived(this.name, request);
    this.server?.handle(request as never, response as never);
  }
}
