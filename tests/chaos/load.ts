import { type HttpClient, NoAnswerError } from '../support/http-client.ts';
import type { Flight } from './flight.ts';
import type { Ledger } from './ledger.ts';
import { requestOf } from './ledger-task.ts';
import type { Random } from './random.ts';

const ARRAY_SHARE = 0.15;
const ARRAY_TASKS_MAX = 12;
const KEYED_SHARE = 0.3;
/** Share of answered submits with keys that are sent again. */
const REPEATED_SHARE = 0.1;

interface Batch {
  readonly number: number;
  readonly size: number;
  readonly isKeyed: boolean;
}

/** Submits tasks, singly and in arrays, as fast as the server answers. */
export class Load {
  private readonly ledger: Ledger;
  private readonly random: Random;
  private batches = 0;
  private isRunning = false;
  private loops: Promise<void>[] = [];
  /** Submits with keys that must be sent again. */
  private repeats: Batch[] = [];

  constructor(ledger: Ledger, random: Random) {
    this.ledger = ledger;
    this.random = random;
  }

  /** Keeps `requests` submits outstanding until `stop`. */
  start(http: HttpClient, flight: Flight, requests: number): void {
    this.isRunning = true;
    this.loops = Array.from({ length: requests }, () => this.submitOn(http, flight));
  }

  /** Submits `requests` single tasks at once, besides the others. */
  burst(http: HttpClient, flight: Flight, requests: number): void {
    for (let i = 0; i < requests; i++) {
      this.loops.push(this.submitLast(http, flight).then(() => undefined));
    }
  }

  /** Sends nothing from now on. */
  stop(): void {
    this.isRunning = false;
  }

  /** Resolves when every submit has its answer or lost its connection. */
  async settled(): Promise<void> {
    await Promise.all(this.loops);
  }

  /** Submits a single task without a key. */
  submitLast(http: HttpClient, flight: Flight): Promise<boolean> {
    return this.submit(http, flight, this.nextBatch(1, false));
  }

  /** Repeats the submits that need it, one after the other. Returns whether the server answered. */
  async repeatAll(http: HttpClient, flight: Flight): Promise<boolean> {
    for (let batch = this.repeats.pop(); batch !== undefined; batch = this.repeats.pop()) {
      if (!(await this.submit(http, flight, batch))) return false;
    }
    return true;
  }

  private nextBatch(size: number, isKeyed: boolean): Batch {
    this.batches += 1;
    return { number: this.batches, size, isKeyed };
  }

  /** Submits one batch. Returns whether the server answered. */
  private async submit(http: HttpClient, flight: Flight, batch: Batch): Promise<boolean> {
    const { number, size, isKeyed } = batch;
    const tasks = Array.from({ length: size }, (_, index) =>
      requestOf({ batch: number, index, size, isKeyed }),
    );
    const body = size === 1 ? tasks[0] : tasks;
    this.ledger.write({ kind: 'submit', batch: number, size, isKeyed, at: Date.now() });
    try {
      const { status, text } = await flight.track((onSent) =>
        http.send({ method: 'POST', path: '/v1/tasks', body, onSent }),
      );
      if (status === 201 || (status === 200 && isKeyed && size === 1)) {
        this.ledger.write({ kind: 'acked', batch: number, ids: idsIn(text) });
      } else {
        const problem = `submit ${number}: ${status} ${text}`;
        this.ledger.write({ kind: 'unexpected', problem });
      }
      if (isKeyed && this.isRunning && this.random.chance(REPEATED_SHARE)) this.repeats.push(batch);
      return true;
    } catch (cause) {
      if (!(cause instanceof NoAnswerError)) throw cause;
      this.ledger.write({ kind: 'unanswered', batch: number });
      if (isKeyed) this.repeats.push(batch);
      return false;
    }
  }

  private async submitOn(http: HttpClient, flight: Flight): Promise<void> {
    while (this.isRunning) {
      const batch = this.repeats.pop() ?? this.anyBatch();
      if (!(await this.submit(http, flight, batch))) return;
    }
  }

  private anyBatch(): Batch {
    const isArray = this.random.chance(ARRAY_SHARE);
    const size = isArray ? this.random.between(2, ARRAY_TASKS_MAX) : 1;
    return this.nextBatch(size, this.random.chance(KEYED_SHARE));
  }
}

function idsIn(text: string): string[] {
  const answer = JSON.parse(text) as { id: string } | { items: { id: string }[] };
  return 'items' in answer ? answer.items.map(({ id }) => id) : [answer.id];
}
