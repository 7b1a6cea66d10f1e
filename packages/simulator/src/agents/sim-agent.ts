import type { RandomStream } from '../kernel/random.ts';
import type { SimWorker, WorkerParts } from '../workers/sim-worker.ts';
import { WorkerProcess } from '../workers/worker-process.ts';
import { AgentLife } from './agent-life.ts';
import { SimHost } from './sim-host.ts';

const STOP_GRACE_MS = 5000;

/** Share of restarts at which the next agent does not find the session of the last one. */
const SESSION_LOST_RATE = 0.05;

/** An agent on a host: its processes come and go, and what it started goes on without them. */
export class SimAgent implements SimWorker {
  readonly machine: SimHost;
  private readonly parts: WorkerParts;
  private readonly host: WorkerProcess;
  private readonly random: RandomStream;
  private life: AgentLife | undefined;
  private isHealed = false;

  constructor(parts: WorkerParts, name: string) {
    const { simulation, runs } = parts;
    this.parts = parts;
    this.random = simulation.random(name);
    this.machine = new SimHost(name, {
      simulation,
      runs,
      random: simulation.random(`${name} host`),
    });
    this.host = new WorkerProcess(simulation, name, () => this.start());
  }

  get process() {
    return this.host.current;
  }

  kill(isNoticed: boolean, restartAfterMs: number): void {
    this.parts.network.clientGone(this.process, isNoticed);
    this.host.kill(restartAfterMs);
  }

  /** The host goes down, with everything that runs on it. */
  reboot(restartAfterMs: number): void {
    this.parts.situations.note('a host was started again');
    this.machine.reboot();
    this.kill(false, restartAfterMs);
  }

  stop(restartAfterMs: number): void {
    if (!this.process.alive) return;
    this.life?.stop(STOP_GRACE_MS);
    this.process.after(STOP_GRACE_MS * 2 + restartAfterMs, () => this.kill(true, 10));
  }

  /** It leaves its host clean, when it is there again. */
  heal(): void {
    this.isHealed = true;
    this.machine.isEngineUp = true;
    this.process.wake();
    this.life?.stop(STOP_GRACE_MS);
  }

  /** Nothing is left on a host whose agent has left. */
  look(): void {
    const containers = (this.machine.containers() ?? []).map(({ name }) => name);
    const left = [...this.machine.names(), ...containers];
    this.parts.simulation.check(left.length === 0, 'I45', () => {
      return `${this.process.name} has left, and ${left} are still on its host`;
    });
  }

  private start(): void {
    const { process, random, machine } = this;
    // What nobody can clean up while the engine is away would take room that is offered.
    if (machine.isEngineUp && random.chance(SESSION_LOST_RATE)) machine.session = undefined;
    this.life = new AgentLife({ ...this.parts, host: machine, process, random });
    if (this.isHealed) process.after(1000, () => this.life?.stop(STOP_GRACE_MS));
  }
}
