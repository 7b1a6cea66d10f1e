import { LIMITS } from '@sluice/protocol/limits';
import { BACKOFF_DEFAULT, Backoff, type BackoffOptions } from './backoff.ts';
import { isPassing, jsonOf, type Refusal, refusalOf } from './http-answers.ts';
import type { Cancel, ClientPorts, HttpAnswer } from './ports.ts';
import { type LaneRequest, RequestLane } from './request-lane.ts';

/** The contract: so many ids in one request. */
const IDS_MAX = 1000;

/** While there are more ids than one request holds, each part of them has its turn this long. */
const TURN_MS = 250;

/** The server answers in the time it was given, and the answer travels. */
const TRAVEL_MS = 15_000;

/** An id that came late joins the request that is outstanding within this time. */
const JOIN_WITHIN_MS = 50;

export interface TaskWaitsOptions {
  /** How many addresses the server has. */
  readonly addresses: number;
  readonly backoff?: BackoffOptions;
}

/** A task as `GET /v1/tasks/{id}` shows it; the caller knows what is in it. */
export interface EndedTask {
  readonly id: string;
  readonly [field: string]: unknown;
}

export type WaitOutcome =
  | { readonly type: 'ended'; readonly task: EndedTask }
  | { readonly type: 'not_found' }
  | { readonly type: 'refused'; readonly refusal: Refusal };

/**
 * Waits for the ends of any number of tasks, with one request outstanding for all of them.
 *
 * X1 Every id that is watched is in the outstanding request, or will be within `JOIN_WITHIN_MS`, or
 *    has its turn when there are more than one request holds.
 * X2 Whoever watches hears one outcome, and nothing after cancelling.
 */
export class TaskWaits {
  private readonly ports: ClientPorts;
  private readonly lane: RequestLane;
  private readonly watchers = new Map<string, Set<(outcome: WaitOutcome) => void>>();
  /** Ids that the outstanding request does not know. */
  private readonly late = new Set<string>();
  private joinTimer: Cancel | undefined;

  constructor({ addresses, backoff = BACKOFF_DEFAULT }: TaskWaitsOptions, ports: ClientPorts) {
    this.ports = ports;
    this.lane = new RequestLane({
      ports,
      addresses,
      backoff: new Backoff(ports, backoff, addresses),
      inFlightMax: 1,
      next: () => this.next(),
    });
  }

  /** Says once how the task ended. */
  watch(id: string, told: (outcome: WaitOutcome) => void): Cancel {
    let watchers = this.watchers.get(id);
    if (watchers === undefined) {
      watchers = new Set();
      this.watchers.set(id, watchers);
      this.late.add(id);
    }
    watchers.add(told);
    if (this.lane.isIdle) this.lane.gather();
    else this.joinSoon();
    return () => {
      watchers.delete(told);
      if (watchers.size > 0 || this.watchers.get(id) !== watchers) return;
      this.forget(id);
      // A request that nobody waits for would keep a program from ending.
      if (this.watchers.size === 0) this.lane.recall();
    };
  }

  close(): void {
    this.joinTimer?.();
    this.lane.close();
  }

  private forget(id: string): void {
    this.watchers.delete(id);
    this.late.delete(id);
  }

  private joinSoon(): void {
    if (this.late.size === 0 || this.joinTimer !== undefined) return;
    this.joinTimer = this.ports.startTimer(JOIN_WITHIN_MS, () => {
      this.joinTimer = undefined;
      if (this.late.size === 0) return;
      this.lane.recall();
      this.lane.pump();
    });
  }

  private next(): LaneRequest | undefined {
    const ids = this.nextIds();
    if (ids.length === 0) return undefined;
    const timeoutMs = this.watchers.size > ids.length ? TURN_MS : LIMITS.waitMsMax;
    const sentAt = this.ports.now();
    return {
      method: 'POST',
      path: '/v1/tasks/wait',
      body: JSON.stringify({ ids, timeoutMs }),
      answerWithinMs: timeoutMs + TRAVEL_MS,
      settled: (answer) => {
        const tookMs = this.ports.now() - sentAt;
        const count = answer === undefined ? 0 : this.hear(ids, answer);
        // A server that has nothing to say and does not wait would be asked without end.
        return count > 0 || (answer?.status === 200 && tookMs >= timeoutMs / 2);
      },
    };
  }

  /** The newest first; then whoever had no turn for longest. */
  private nextIds(): string[] {
    const ids = [...this.late].slice(0, IDS_MAX);
    for (const id of ids) this.late.delete(id);
    if (ids.length < IDS_MAX) {
      const isIn = new Set(ids);
      for (const id of this.watchers.keys()) {
        if (ids.length === IDS_MAX) break;
        if (!isIn.has(id) && !this.late.has(id)) ids.push(id);
      }
    }
    // Who has a turn now goes to the end of the line.
    if (ids.length < this.watchers.size) {
      for (const id of ids) {
        const watchers = this.watchers.get(id);
        this.watchers.delete(id);
        if (watchers !== undefined) this.watchers.set(id, watchers);
      }
    }
    return ids;
  }

  /** How many ids are done with by this answer. */
  private hear(ids: readonly string[], answer: HttpAnswer): number {
    if (answer.status !== 200) {
      const refusal = refusalOf(answer);
      if (isPassing(refusal)) return 0;
      for (const id of ids) this.tell(id, { type: 'refused', refusal });
      return ids.length;
    }
    const { items = [], unknown = [] } = (jsonOf(answer) ?? {}) as WaitAnswer;
    for (const task of items) this.tell(task.id, { type: 'ended', task });
    for (const id of unknown) this.tell(id, { type: 'not_found' });
    return items.length + unknown.length;
  }

  private tell(id: string, outcome: WaitOutcome): void {
    const watchers = this.watchers.get(id);
    this.forget(id);
    for (const told of watchers ?? []) told(outcome);
  }
}

/** Those that ended, and ids that nobody knows. */
interface WaitAnswer {
  readonly items?: readonly EndedTask[];
  readonly unknown?: readonly string[];
}
