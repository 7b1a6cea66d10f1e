import type { TaskRequest } from '@sluice/protocol';
import {
  type HttpAnswer,
  type HttpRequest,
  type SubmitOutcome,
  Submitter,
} from '@sluice/sdk/logic';
import type { RandomStream } from '../kernel/random.ts';
import { SimProcess } from '../kernel/sim-process.ts';
import { exchangeOf, sendForSdk } from '../network/sdk-requests.ts';
import { drawTask, type TaskInput } from './draw-task.ts';
import type { ClientParts } from './sim-client.ts';

/** Is told about every call to the SDK and its outcome. */
export interface CallWatch {
  /** A call with the tasks of these numbers begins. */
  called(numbers: readonly number[]): void;
  /** The network delivers a request with these tasks twice. */
  repeated(numbers: readonly number[]): void;
  /** The outcome that the caller gets. */
  heard(numbers: readonly number[], outcome: SubmitOutcome): void;
}

/** Limits on tasks that wait or are in flight. Callers reach them when the server is full. */
const PENDING_TASKS_MAX = [10, 30, 100];

/** In every case, each request is sent at least twice before the SDK gives up. */
const PATIENCE = [
  { answerWithinMs: 1000, giveUpAfterMs: 3000 },
  { answerWithinMs: 1000, giveUpAfterMs: 60_000 },
  { answerWithinMs: 5000, giveUpAfterMs: 60_000 },
];

/** A client as users write it: it submits through the SDK, without dedupe keys. */
export class SdkClient {
  readonly process: SimProcess;
  private readonly parts: ClientParts;
  private readonly watch: CallWatch;
  private readonly random: RandomStream;
  private readonly submitter: Submitter;
  private readonly tasksMax: number;
  private isStopped = false;

  constructor(parts: ClientParts, name: string, watch: CallWatch) {
    this.parts = parts;
    this.watch = watch;
    const process = new SimProcess(parts.simulation, name);
    this.process = process;
    this.random = parts.simulation.random(name);
    this.tasksMax = parts.simulation.random(`${name} pending`).pick(PENDING_TASKS_MAX);
    this.submitter = new Submitter(
      {
        addresses: 1,
        pending: { tasksMax: this.tasksMax, bytesMax: Number.POSITIVE_INFINITY },
        ...this.random.pick(PATIENCE),
      },
      {
        send: (request, answered) => this.send(request, answered),
        now: process.monotonic,
        startTimer: process.after,
        atEndOfTurn: (run) => void process.after(0, run),
        random: this.random.next,
      },
    );
    this.next();
  }

  /** No further calls. Open calls are retried until they are answered. */
  stop(): void {
    this.isStopped = true;
  }

  private next(): void {
    this.process.after(this.parts.everyMs * (0.2 + 1.6 * this.random.next()), () => {
      if (this.isStopped) return;
      this.submit();
      this.next();
    });
  }

  /** Calls that are made together share a request. */
  private submit(): void {
    const calls = this.random.chance(0.8) ? 1 : this.random.integer(2, 6);
    for (let made = 0; made < calls; made++) this.call(this.random.integer(1, 4));
  }

  private call(count: number): void {
    const { known, situations } = this.parts;
    const tasks = Array.from({ length: count }, () => drawTask(this.random, known.nextNumber()));
    const numbers = tasks.map(({ input }) => (input as TaskInput).n);
    this.watch.called(numbers);
    let isCalling = true;
    this.submitter.submit(tasks, (outcome) => {
      situations.note(`a call of the SDK was ${outcome.type}${isCalling ? ' at once' : ''}`);
      this.watch.heard(numbers, outcome);
      if (outcome.type === 'submitted') for (const { id } of outcome.tasks) known.add(id);
    });
    isCalling = false;
  }

  /** Records each request in the history too, for checkers that know only requests and answers. */
  private send(
    request: HttpRequest,
    answered: (answer: HttpAnswer | undefined) => void,
  ): () => void {
    const { simulation, history, network } = this.parts;
    const exchange = exchangeOf(request);
    const tasks = JSON.parse(exchange.body) as TaskRequest[];
    simulation.check(tasks.length <= this.tasksMax, 'I40', 'more tasks are sent than may wait');
    const isPlain = tasks.every(({ dedupeKey }) => dedupeKey === undefined);
    if (isPlain) this.parts.situations.note('the SDK sent a request with one key for all tasks');
    const entry = history.begin(this.process.name, { kind: 'submit', tasks }, simulation.now);
    const hangUp = sendForSdk(network, this.process, exchange, (answer) => {
      if (answer !== undefined) {
        const { status, text } = answer;
        Object.assign(entry, { answeredAt: simulation.now, status, answer: JSON.parse(text) });
      }
      answered(answer);
    });
    entry.isRepeated = network.repeated.has(exchange);
    if (entry.isRepeated) this.watch.repeated(tasks.map(({ input }) => (input as TaskInput).n));
    return hangUp;
  }
}
