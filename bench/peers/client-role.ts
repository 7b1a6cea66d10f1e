import { setTimeout as sleep } from 'node:timers/promises';
import { wallClockMs } from '../path/connection.ts';
import type { BenchTask, Contender, PeerClient, SubmitOptions } from './contender.ts';

/** From the first call to the last answer. */
export interface Span {
  readonly startedAt: number;
  readonly endedAt: number;
}

export interface Edited extends Span {
  /** When each task is due, by its number. */
  readonly dueAt: readonly number[];
}

/** Number of edits per call. */
const EDITS_PER_CALL = 100;
const EDIT_CALLS_AT_ONCE = 4;

const TEXT = 'x'.repeat(140);

/** The load of one contender, in a separate process. Works call its methods. */
export class ClientRole {
  private readonly client: PeerClient;
  private next = 0;

  private constructor(client: PeerClient) {
    this.client = client;
  }

  static async open(contender: Contender, address: string, queue: string): Promise<ClientRole> {
    return new ClientRole(await contender.openClient(address, queue));
  }

  close(): Promise<void> {
    return this.client.close();
  }

  /** Submits as many tasks per call as the contender takes, in several calls at once. */
  async bulk({
    count,
    atOnce,
    size = this.client.bulkSize,
    ...options
  }: SubmitOptions & { count: number; atOnce: number; size?: number }): Promise<Span> {
    const calls = Math.ceil(count / size);
    return spanOf(calls, atOnce, (call) => {
      const tasks = this.make(Math.min(size, count - call * size), options);
      return this.client.submitBulk(tasks, options);
    });
  }

  async single({
    count,
    atOnce,
    ...options
  }: SubmitOptions & { count: number; atOnce: number }): Promise<Span> {
    return spanOf(count, atOnce, () => this.client.submitOne(this.make(1, options)[0], options));
  }

  /**
   * Open loop: the clock of a task starts when it was due, even if it could not be sent then. The
   * loop does not wait for answers. Returns the numbers of the tasks that were acknowledged.
   */
  async atRate({ rate, forMs }: { rate: number; forMs: number }): Promise<number[]> {
    const startedAt = wallClockMs();
    const total = Math.floor((rate * forMs) / 1000);
    const promised: number[] = [];
    const calls: Promise<void>[] = [];
    while (calls.length < total) {
      const due = Math.min(total, ((wallClockMs() - startedAt) * rate) / 1000);
      while (calls.length < due) {
        const at = startedAt + (calls.length * 1000) / rate;
        const task = { ...this.make(1, {})[0], at };
        calls.push(
          this.client.submitOne(task).then(
            () => void promised.push(task.n),
            // This task was not acknowledged, so it does not count as lost.
            () => undefined,
          ),
        );
      }
      await sleep(1);
    }
    await Promise.race([Promise.all(calls), sleep(30_000)]);
    return promised;
  }

  /** Submits tasks that are due in an hour. */
  async delayed({ count, atOnce }: { count: number; atOnce: number }): Promise<Span> {
    const size = Math.max(this.client.bulkSize, 100);
    return spanOf(Math.ceil(count / size), atOnce, (call) =>
      this.client.submitEditable(
        this.make(Math.min(size, count - call * size), {}),
        60 * 60 * 1000,
      ),
    );
  }

  /** Edits the first tasks so that they are due evenly from `fromMs` to `toMs` from now. */
  async edit({
    count,
    fromMs,
    toMs,
  }: {
    count: number;
    fromMs: number;
    toMs: number;
  }): Promise<Edited> {
    const beganAt = wallClockMs();
    const dueAt: number[] = [];
    const span = await spanOf(Math.ceil(count / EDITS_PER_CALL), EDIT_CALLS_AT_ONCE, (call) => {
      const from = call * EDITS_PER_CALL;
      const tasks: BenchTask[] = [];
      const delaysMs: number[] = [];
      for (let n = from; n < Math.min(count, from + EDITS_PER_CALL); n++) {
        const now = wallClockMs();
        const wantedAt = beganAt + fromMs + ((toMs - fromMs) * n) / count;
        const delayMs = Math.max(1, Math.round(wantedAt - now));
        dueAt[n] = now + delayMs;
        delaysMs.push(delayMs);
        tasks.push({ n, at: dueAt[n], text: TEXT });
      }
      return this.client.edit(tasks, delaysMs);
    });
    return { ...span, dueAt };
  }

  /** Creates or replaces schedules; undefined when the contender cannot. */
  async schedules({
    count,
    cron,
    from = 0,
  }: {
    count: number;
    cron: string;
    from?: number;
  }): Promise<Span | undefined> {
    const { schedules } = this.client;
    if (schedules === undefined) return undefined;
    const { perCall, atOnce } = schedules;
    return spanOf(Math.ceil(count / perCall), atOnce, (call) => {
      const size = Math.min(perCall, count - call * perCall);
      return schedules.put(tasksFrom(from + call * perCall, size), cron);
    });
  }

  private make(count: number, { isUrgent }: SubmitOptions): BenchTask[] {
    return Array.from({ length: count }, () => {
      const task = { n: this.next, at: wallClockMs(), text: TEXT };
      this.next += 1;
      return isUrgent === undefined ? task : { ...task, isUrgent };
    });
  }
}

/** Tasks with these numbers. */
export function tasksFrom(first: number, count: number): BenchTask[] {
  return Array.from({ length: count }, (_, place) => ({ n: first + place, at: 0, text: TEXT }));
}

async function spanOf(
  calls: number,
  atOnce: number,
  call: (n: number) => Promise<void>,
): Promise<Span> {
  const startedAt = wallClockMs();
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < calls) {
      next += 1;
      await call(next - 1);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, calls) }, lane));
  return { startedAt, endedAt: wallClockMs() };
}
