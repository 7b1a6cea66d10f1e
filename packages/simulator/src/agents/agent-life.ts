import {
  type AttemptRecord,
  diskProblem,
  GpuShares,
  type HostOffer,
  isOtherOffer,
  type LiveAttempt,
  LiveAttempts,
  offerOf,
  ownerless,
  planRecovery,
  readRecord,
  startedOf,
} from '@sluice/agent/logic';
import type { PushedTask } from '@sluice/protocol';
import { type Ending, type SessionNotice, TaskAborted, WorkerSession } from '@sluice/sdk/logic';
import type { RandomStream } from '../kernel/random.ts';
import type { SimProcess } from '../kernel/sim-process.ts';
import { exchangeOf, openSdkStream, sendForSdk } from '../network/sdk-requests.ts';
import type { WorkerParts } from '../workers/sim-worker.ts';
import { CONTAINER, PROGRAM, type SimHost } from './sim-host.ts';

export const AGENT_TYPES = [PROGRAM, CONTAINER];

const RESERVE = { cpu: 0, memoryMb: 256, diskMb: 1024 };
const SLOTS = 20;
const LOOK_AT_PROGRAM_MS = 200;
const LOOK_AT_ENGINE_MS = 2000;
const LOOK_AT_HOST_MS = 5000;
const MIB = 2 ** 20;
const LOST: Ending = { kind: 'failed', error: { message: 'the program left no exit code' } };
const NO_ENGINE: Ending = { kind: 'failed', error: { message: 'the engine does not answer' } };

type Context = Parameters<LiveAttempts['with']>[0];

interface LifeParts extends WorkerParts {
  readonly host: SimHost;
  readonly process: SimProcess;
  readonly random: RandomStream;
}

/**
 * One process of an agent: the decisions of `packages/agent` and the session of the SDK, on a
 * simulated host. What it does with the host stands here in place of files, groups and the engine.
 */
export class AgentLife {
  private readonly parts: LifeParts;
  private readonly live: LiveAttempts;
  private readonly shares: GpuShares;
  private readonly stops = new Map<string, AbortController>();
  /** Names of the attempts of this process, until their traces are removed. */
  private readonly mine = new Set<string>();
  private session: WorkerSession | undefined;
  private told: HostOffer;
  private isEngineAway: boolean;
  private isReconciling = false;

  constructor(parts: LifeParts) {
    this.parts = parts;
    const { host, process } = parts;
    this.shares = new GpuShares(host.gpus);
    this.live = new LiveAttempts(this.shares, process.wall);
    this.told = this.offer();
    this.isEngineAway = !host.isEngineUp;
    void this.begin();
  }

  /** Takes nothing new, lets what runs end within a grace, and leaves. */
  stop(graceMs: number): void {
    this.session?.stop(graceMs);
  }

  /** As `Recovery.begin` of the agent does it. */
  private async begin(): Promise<void> {
    const { host, situations } = this.parts;
    await this.pause();
    const saved = host.session;
    const plan = planRecovery(this.left(), saved !== undefined);
    this.live.adopt(plan.adopt);
    for (const { name } of plan.adopt) this.mine.add(name);
    this.cleanContainers();
    for (const name of plan.clean) {
      await this.pause();
      host.remove(name);
      situations.note('an agent cleaned up after an earlier one');
    }
    this.checkNothingLeft();
    const generation = (saved?.generation ?? 0) + 1;
    if (saved !== undefined) host.session = { ...saved, generation };
    this.open(generation, plan.adopt);
  }

  private left() {
    const { host } = this.parts;
    const containers = host.containers();
    const started = containers?.filter(({ wasStarted }) => wasStarted).map(({ name }) => name);
    const seen = { runsContainers: true, startedContainers: started && new Set(started) };
    return host.names().map((name) => {
      const record = readRecord(name, host.recordOf(name));
      return { name, record, started: startedOf(record, host.isMarked(name), seen) };
    });
  }

  private open(generation: number, adopt: readonly AttemptRecord[]): void {
    const { host, process, network, random, situations } = this.parts;
    const tasks = adopt.map(adoptedTask);
    const sessionId = host.session?.sessionId;
    this.session = new WorkerSession(
      {
        name: process.name,
        types: AGENT_TYPES.map((type) => ({ type })),
        capacity: { ...this.told, slots: SLOTS },
        leaseMs: 5000,
        addresses: 1,
        unavailable: this.reasons(),
        ...(sessionId === undefined ? {} : { adopted: { sessionId, generation, tasks } }),
      },
      {
        send: (request, answered) => sendForSdk(network, process, exchangeOf(request), answered),
        openStream: (request, listener) => openSdkStream(network, process, request, listener),
        now: process.monotonic,
        wallTime: process.wall,
        startTimer: process.after,
        atEndOfTurn: (run) => void process.after(0, run),
        random: random.next,
        run: (task) => void this.run(task),
        abort: (lease, { type }) => {
          situations.note(`a program was stopped: ${type}`);
          process.log(`stops ${lease}: ${type}`);
          this.stops.get(lease)?.abort(new TaskAborted(type, type, 0));
        },
        signal: () => undefined,
        notify: (notice) => this.heard(notice, generation),
      },
    );
    if (tasks.length > 0) situations.note('an agent adopted programs');
    this.session.start();
    this.watchEngine();
    this.watchHost();
  }

  private heard(notice: SessionNotice, generation: number): void {
    const { host } = this.parts;
    if (notice.type === 'welcomed') {
      host.session = { sessionId: notice.sessionId, generation };
      void this.reconcile();
    } else if (notice.type === 'report_answered') {
      this.live.reported(notice.lease);
    } else if (notice.type === 'over') {
      void this.leave();
    }
  }

  private async leave(): Promise<void> {
    const { host, situations } = this.parts;
    await this.live.settled();
    this.cleanContainers();
    host.session = undefined;
    situations.note('an agent left');
    this.checkNothingLeft();
  }

  private async run(task: PushedTask): Promise<void> {
    const { lease } = task;
    const controller = new AbortController();
    this.stops.set(lease, controller);
    const { signal } = controller;
    const context = { ...task, resources: task.resources ?? {}, signal } as unknown as Context;
    const ending = await this.live.with(context, (live) => this.attempt(task, live, signal));
    if ((signal.reason as TaskAborted | undefined)?.type === 'stopping')
      this.parts.runs.letGo(lease);
    this.stops.delete(lease);
    this.session?.finish(lease, ending);
  }

  private async attempt(task: PushedTask, live: LiveAttempt, stop: AbortSignal): Promise<Ending> {
    const { host } = this.parts;
    const { name } = live;
    this.mine.add(name);
    live.cleanUp = async () => {
      await this.pause();
      host.removeContainer(name);
      host.remove(name);
      this.mine.delete(name);
    };
    const noted = live.adopted === undefined ? undefined : host.outcomeOf(name);
    if (noted !== undefined) return noted;
    const refusal = live.adopted === undefined ? await this.start(task, live, stop) : undefined;
    const ending = refusal ?? (await this.wait(task, live, stop));
    if (refusal === undefined) host.noteOutcome(name, ending);
    await this.pause();
    return stop.aborted ? { kind: 'cancelled' } : ending;
  }

  /** A kill of the agent may come between any two steps. Returns why nothing was started. */
  private async start(
    task: PushedTask,
    { name, gpus }: LiveAttempt,
    stop: AbortSignal,
  ): Promise<Ending | undefined> {
    const { host, process } = this.parts;
    await this.pause();
    host.makeFolder(name);
    await this.pause();
    host.writeRecord({ name, task: recordedTask(task), gpus, startedAt: process.wall() });
    await this.pause();
    if (stop.aborted) return { kind: 'cancelled' };
    if (task.type === CONTAINER && !host.isEngineUp) return NO_ENGINE;
    host.spawn(name, task, gpus);
    return undefined;
  }

  private async wait(task: PushedTask, live: LiveAttempt, stop: AbortSignal): Promise<Ending> {
    const { host, random, simulation } = this.parts;
    const { name } = live;
    for (;;) {
      const seen = host.look(name);
      live.writtenBytes = host.writtenBy(name);
      if (seen?.state === 'exited') return seen.ending;
      if (seen?.state === 'lost') {
        // Of a container nothing was known while its engine was away.
        simulation.check(seen.wasStarted || task.type === CONTAINER, 'I45', () => {
          return `the end of ${name} is reported, which never started`;
        });
        return LOST;
      }
      if (stop.aborted && random.chance(0.3)) host.kill(name);
      await this.pause(LOOK_AT_PROGRAM_MS);
    }
  }

  /** As `Recovery.reconcile` of the agent does it. */
  private async reconcile(): Promise<void> {
    if (this.isReconciling) return;
    this.isReconciling = true;
    for (const name of ownerless(this.parts.host.names(), this.live.owned)) {
      await this.pause();
      this.parts.host.remove(name);
    }
    this.cleanContainers();
    this.checkNothingLeft();
    this.isReconciling = false;
  }

  private cleanContainers(): void {
    const { host, situations } = this.parts;
    const names = (host.containers() ?? []).map(({ name }) => name);
    for (const name of ownerless(names, this.live.owned)) {
      situations.note('an agent removed a container that nobody owns');
      host.removeContainer(name);
    }
  }

  private checkNothingLeft(): void {
    const { host, simulation, process } = this.parts;
    const names = [...host.names(), ...(host.containers() ?? []).map(({ name }) => name)];
    const left = names.filter((name) => !this.mine.has(name));
    simulation.check(left.length === 0, 'I45', () => `${process.name} left ${left} behind`);
  }

  private watchEngine(): void {
    const { host, process } = this.parts;
    process.after(LOOK_AT_ENGINE_MS, () => {
      const wasAway = this.isEngineAway;
      this.isEngineAway = !host.isEngineUp;
      if (wasAway !== this.isEngineAway) this.session?.changeUnavailable(this.reasons());
      if (wasAway && !this.isEngineAway) this.cleanContainers();
      this.watchEngine();
    });
  }

  private watchHost(): void {
    this.parts.process.after(LOOK_AT_HOST_MS, () => {
      const offer = this.offer();
      if (isOtherOffer(this.told, offer)) {
        this.told = offer;
        this.session?.changeCapacity({ ...offer, slots: SLOTS });
        this.parts.situations.note('an agent changed its offer');
      }
      this.session?.changeUnavailable(this.reasons());
      this.watchHost();
    });
  }

  /** Why nothing of a type can run now. */
  private reasons(): Map<string, string> {
    const full = diskProblem(this.parts.host.measure(), RESERVE);
    const away = this.isEngineAway ? 'the engine does not answer' : undefined;
    const reasons = [full, away ?? full];
    return new Map(
      AGENT_TYPES.flatMap((type, place) => {
        const reason = reasons[place];
        return reason === undefined ? [] : [[type, reason] as const];
      }),
    );
  }

  /** An offer never has more than the host has beside the reserve. */
  private offer(): HostOffer {
    const { host, simulation } = this.parts;
    const measured = host.measure();
    const { writtenBytes } = this.live;
    const offer = offerOf(measured, RESERVE, { gpus: this.shares.offered, writtenBytes });
    const diskMb = (measured.diskBytes + writtenBytes) / MIB - RESERVE.diskMb;
    const isSmaller =
      offer.cpu <= host.cores - RESERVE.cpu &&
      offer.memoryMb <= host.memoryMb - RESERVE.memoryMb &&
      offer.diskMb <= Math.max(0, diskMb) &&
      (offer.gpu ?? 0) <= host.gpus.length;
    simulation.check(isSmaller, 'I45', () => `an offer has too much: ${JSON.stringify(offer)}`);
    return offer;
  }

  private pause(ms = this.parts.random.logarithmic(0.1, 20)): Promise<void> {
    return new Promise((resolve) => void this.parts.process.after(ms, resolve));
  }
}

function recordedTask({ id, type, attempt, lease, resources = {} }: PushedTask) {
  const kind = type === CONTAINER ? 'container' : 'command';
  return { id, type: kind, attempt, lease, resources } as AttemptRecord['task'];
}

function adoptedTask({ task }: AttemptRecord): PushedTask {
  const type = task.type === 'container' ? CONTAINER : PROGRAM;
  return { ...task, type, input: null } as unknown as PushedTask;
}
