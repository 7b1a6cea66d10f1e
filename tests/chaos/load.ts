import { type HttpClient, NoAnswerError } from '../support/http-client.ts';
import type { Flight } from './flight.ts';
import type { Ledger } from './ledger.ts';
import { TASK_TYPE } from './ledger-task.ts';
import type { Random } from './random.ts';

const ARRAY_SHARE = 0.15;
const ARRAY_TASKS_MAX = 12;

/** Submits tasks, singly and in arrays, as fast as the server answers. */
export class Load {
  private readonly ledger: Ledger;
  private readonly random: Random;
  private batches = 0;
  private isRunning = false;
  private loops: Promise<void>[] = [];

  constructor(ledger: Ledger, random: Random) {
    this.ledger = ledger;
    this.random = random;
  }

  /** Keeps `requests` submits outstanding until `stop`. */
  start(http: HttpClient, flight: Flight, requests: number): void {
    this.isRunning = true;
    this.loops = Array.from({ length: requests }, () => this.submitOn(http, flight));
  }

  /** Submits that many single tasks at once, beside the others. */
  burst(http: HttpClient, flight: Flight, requests: number): void {
    for (let i = 0; i < requests; i++) {
      this.loops.push(this.submit(http, flight, 1).then(() => undefined));
    }
  }

  /** Sends nothing from here on. */
  stop(): void {
    this.isRunning = false;
  }

  /** Resolves when every submit has its answer or lost its connection. */
  async settled(): Promise<void> {
    await Promise.all(this.loops);
  }

  /** Submits one batch. Answers whether the server did. */
  async submit(http: HttpClient, flight: Flight, size: number): Promise<boolean> {
    this.batches += 1;
    const batch = this.batches;
    const tasks = Array.from({ length: size }, (_, index) => ({
      type: TASK_TYPE,
      input: { batch, index, size },
    }));
    const body = size === 1 ? tasks[0] : tasks;
    this.ledger.write({ kind: 'submit', batch, size });
    try {
      const { status, text } = await flight.track((onSent) =>
        http.send({ method: 'POST', path: '/v1/tasks', body, onSent }),
      );
      if (status === 201) this.ledger.write({ kind: 'acked', batch, ids: idsIn(text) });
      else this.ledger.write({ kind: 'unexpected', problem: `submit ${batch}: ${status} ${text}` });
      return true;
    } catch (cause) {
      if (!(cause instanceof NoAnswerError)) throw cause;
      this.ledger.write({ kind: 'unanswered', batch });
      return false;
    }
  }

  private async submitOn(http: HttpClient, flight: Flight): Promise<void> {
    while (this.isRunning) {
      const isArray = this.random.chance(ARRAY_SHARE);
      const size = isArray ? this.random.between(2, ARRAY_TASKS_MAX) : 1;
      if (!(await this.submit(http, flight, size))) return;
    }
  }
}

function idsIn(text: string): string[] {
  const answer = JSON.parse(text) as { id: string } | { items: { id: string }[] };
  return 'items' in answer ? answer.items.map(({ id }) => id) : [answer.id];
}
