import { EventStreamParser } from '@sluice/sdk/logic';
import type { TaskInput } from '../clients/draw-task.ts';
import type { RandomStream } from '../kernel/random.ts';
import { call } from '../network/call.ts';
import { drawOffer } from './draw-offer.ts';
import type { SimWorker, WorkerParts } from './sim-worker.ts';
import { WorkerProcess } from './worker-process.ts';

interface Pushed {
  readonly id: string;
  readonly lease: string;
  readonly attempt: number;
  readonly input: TaskInput;
}

interface Report {
  readonly lease: string;
  readonly kind: string;
  readonly output?: unknown;
  readonly error?: { readonly message: string };
}

/**
 * A worker that does not follow the protocol. It reports twice, late, and for leases that it lost
 * or never had. It forgets what it holds, refuses tasks, and offers less than it uses. No other
 * worker or client may suffer from it.
 */
export class RogueWorker implements SimWorker {
  private readonly parts: WorkerParts;
  private readonly host: WorkerProcess;
  private readonly random: RandomStream;
  private session: string | undefined;
  /** All leases that it ever received. */
  private readonly leases: string[] = [];
  private giveUp: () => void = () => {};

  constructor(parts: WorkerParts, name: string) {
    this.parts = parts;
    this.random = parts.simulation.random(name);
    this.host = new WorkerProcess(parts.simulation, name, () => this.start());
  }

  get process() {
    return this.host.current;
  }

  kill(isNoticed: boolean, restartAfterMs: number): void {
    this.parts.network.clientGone(this.process, isNoticed);
    this.session = this.random.chance(0.5) ? this.session : undefined;
    this.host.kill(restartAfterMs);
  }

  stop(restartAfterMs: number): void {
    this.kill(true, restartAfterMs);
  }

  /** Removes the worker for good. */
  heal(): void {
    this.host.killForGood();
    this.parts.network.clientGone(this.process, true);
  }

  private start(): void {
    const { random } = this;
    const isResumed = this.session !== undefined && random.chance(0.7);
    const running = this.leases.filter(() => random.chance(0.5)).slice(-5);
    const resume = isResumed ? { resume: { sessionId: this.session, running } } : {};
    const body = JSON.stringify({ name: this.process.name, ...drawOffer(random), ...resume });
    const parser = new EventStreamParser(({ name, data }) => this.hear(name, JSON.parse(data)));
    const { process } = this;
    this.giveUp = this.parts.network.request(
      process,
      { method: 'POST', path: '/v1/worker-sessions', body },
      {
        head: () => {},
        bytes: (chunk) => void parser.push(chunk),
        ended: () => void process.after(random.logarithmic(10, 20_000), () => this.start()),
      },
    );
    if (random.chance(0.2)) process.after(random.logarithmic(100, 30_000), () => this.giveUp());
  }

  private hear(event: string, data: unknown): void {
    if (event === 'welcome') {
      this.session = (data as { sessionId: string }).sessionId;
      this.heartbeat();
    }
    if (event === 'tasks') for (const task of data as Pushed[]) this.run(task);
  }

  private heartbeat(): void {
    if (this.random.chance(0.1)) return;
    this.process.after(this.random.logarithmic(500, 6000), () => {
      this.report(this.random.chance(0.1) ? [this.strange()] : []);
      this.heartbeat();
    });
  }

  private run({ lease, input }: Pushed): void {
    const { random, process } = this;
    this.leases.push(lease);
    if (random.chance(0.1)) return this.report([{ lease, kind: 'refused' }]);
    if (input.end === 'hangs' || random.chance(0.05)) return;
    const end = this.endOf(lease, input);
    process.after(input.runMs * random.logarithmic(0.5, 3), () => {
      this.report([end]);
      if (random.chance(0.2)) this.report([end]);
      if (random.chance(0.1))
        process.after(random.logarithmic(10, 60_000), () => this.report([end]));
      if (random.chance(0.1)) this.report([this.strange(), end]);
    });
  }

  private endOf(lease: string, input: TaskInput): Report {
    if (input.end === 'later') return { lease, kind: 'later' };
    if (input.end === 'succeeded') return { lease, kind: 'succeeded', output: { n: input.n } };
    return { lease, kind: 'failed', error: { message: 'rogue' } };
  }

  /** A report that makes no sense. */
  private strange(): Report {
    const { random } = this;
    const lease = this.leases.length === 0 ? 'l_none' : random.pick(this.leases);
    const kind = random.pick([
      'started',
      'heartbeat',
      'succeeded',
      'cancelled',
      'later',
      'refused',
    ]);
    return { lease, kind };
  }

  private report(reports: readonly Report[]): void {
    const { random, session } = this;
    if (session === undefined) return;
    const capacity = random.chance(0.05) ? { capacity: drawOffer(random).capacity } : {};
    const body = JSON.stringify({ reports, ...capacity });
    const path = `/v1/worker-sessions/${session}/reports`;
    call(this.parts.network, this.process, { method: 'POST', path, body }, (answer) => {
      if (answer === undefined) return;
      const { outcomes = [] } = JSON.parse(answer.body) as { outcomes?: string[] };
      for (const outcome of outcomes) this.parts.situations.note(`a report was ${outcome}`);
    });
    if (random.chance(0.02)) this.leave(session);
  }

  private leave(session: string): void {
    const path = `/v1/worker-sessions/${session}`;
    call(this.parts.network, this.process, { method: 'DELETE', path, body: '' }, () => {});
  }
}
