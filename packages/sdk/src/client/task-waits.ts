import { LIMITS } from '@sluice/protocol/limits';
import { BACKOFF_DEFAULT, Backoff, type BackoffOptions } from '../base/backoff.ts';
import type { Cancel, ClientPorts, HttpAnswer } from '../base/ports.ts';
import { isHopeless, isPassing, jsonOf, type Refusal, refusalOf } from '../calls/http-answers.ts';
import { type LaneRequest, RequestLane } from '../calls/request-lane.ts';
import { UNTRUSTED } from '../calls/sluice-error.ts';

/** Maximum number of ids in one request of the API. */
const IDS_MAX = 1000;

/** While there are more ids than one request holds, each request waits this long. */
const TURN_MS = 250;

/**
 * Minimum shares of a request while there are more ids than it holds: ids that were in no request
 * yet; ids that wait longest, because they mostly end first; and other ids by turns.
 */
const NEW_MIN = 250;
const OLDEST_MIN = 500;
const TURNS_MIN = 125;

/**
 * A request costs the server time for each id, even for tasks that have not ended. When most have
 * not ended, the next request waits one millisecond per hundred ids, so that it returns more.
 */
const IDS_PER_PAUSE_MS = 100;

/** Time for the answer to arrive, after the server's timeout. */
const TRAVEL_MS = 15_000;

/** A new id joins the outstanding request within this time. */
const JOIN_WITHIN_MS = 50;

export interface TaskWaitsOptions {
  /** Number of the server's addresses. */
  readonly addresses: number;
  readonly backoff?: BackoffOptions;
}

/** A task as `GET /v1/tasks/{id}` shows it; the caller knows its fields. */
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
 * waits.one-request: Every watched id is in the outstanding request, or will be within
 *   `JOIN_WITHIN_MS`, or gets its turn when there are more ids than one request holds.
 * waits.one-outcome: Every watcher gets one outcome, and nothing after cancelling.
 */
export class TaskWaits {
  private readonly ports: ClientPorts;
  private readonly addresses: number;
  private readonly lane: RequestLane;
  /** By id, the longest wait first. */
  private readonly watchers = new Map<string, Set<(outcome: WaitOutcome) => void>>();
  /** All ids that were in a request, the least recent first. */
  private readonly line = new Set<string>();
  /** Ids that were in no request yet. */
  private readonly late = new Set<string>();
  private joinTimer: Cancel | undefined;
  /** The outstanding request is short, so that other ids get their turn after it. */
  private hasTurns = false;
  /** Set while the next request is delayed so that more tasks end. */
  private pause: Cancel | undefined;

  constructor({ addresses, backoff = BACKOFF_DEFAULT }: TaskWaitsOptions, ports: ClientPorts) {
    this.ports = ports;
    this.addresses = addresses;
    this.lane = new RequestLane({
      ports,
      addresses,
      backoff: new Backoff(ports, backoff, addresses),
      inFlightMax: 1,
      next: () => this.next(),
    });
  }

  /** Calls `told` once with how the task ended. */
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
      // An open request that no watcher needs would keep a program from ending.
      if (this.watchers.size === 0) this.lane.recall();
    };
  }

  close(): void {
    this.joinTimer?.();
    this.pause?.();
    this.lane.close();
  }

  private forget(id: string): void {
    this.watchers.delete(id);
    this.line.delete(id);
    this.late.delete(id);
  }

  private joinSoon(): void {
    if (this.late.size === 0 || this.hasTurns || this.joinTimer !== undefined) return;
    this.joinTimer = this.ports.startTimer(JOIN_WITHIN_MS, () => {
      this.joinTimer = undefined;
      if (this.late.size === 0) return;
      this.lane.recall();
      this.lane.pump();
    });
  }

  private next(): LaneRequest | undefined {
    if (this.pause !== undefined) return undefined;
    const ids = this.nextIds();
    if (ids.length === 0) return undefined;
    this.hasTurns = this.watchers.size > ids.length;
    const timeoutMs = this.hasTurns ? TURN_MS : LIMITS.waitMsMax;
    const sentAt = this.ports.now();
    return {
      method: 'POST',
      path: '/v1/tasks/wait',
      body: JSON.stringify({ ids, timeoutMs }),
      answerWithinMs: timeoutMs + TRAVEL_MS,
      settled: (answer, problem) => {
        if (problem !== undefined && isHopeless(problem, this.addresses)) {
          const refusal = { status: 0, code: UNTRUSTED, message: problem.why, details: [] };
          for (const id of ids) this.tell(id, { type: 'refused', refusal });
          return false;
        }
        const tookMs = this.ports.now() - sentAt;
        const count = answer === undefined ? 0 : this.hear(ids, answer);
        if (count < ids.length / 2) this.rest(ids.length);
        // Without this, a server that answers at once with nothing would be asked again without a
        // pause.
        return count > 0 || (answer?.status === 200 && tookMs >= timeoutMs / 2);
      },
    };
  }

  private rest(ids: number): void {
    const pauseMs = Math.floor(ids / IDS_PER_PAUSE_MS);
    if (pauseMs === 0) return;
    this.pause = this.ports.startTimer(pauseMs, () => {
      this.pause = undefined;
      this.lane.pump();
    });
  }

  private nextIds(): string[] {
    if (this.watchers.size <= IDS_MAX) {
      this.ask(this.late);
      return [...this.watchers.keys()];
    }
    const ids = new Set<string>();
    const take = (from: Iterable<string>, most: number): void => {
      for (const id of from) {
        if (ids.size >= most) break;
        ids.add(id);
      }
    };
    take(this.late, NEW_MIN);
    take(this.watchers.keys(), ids.size + OLDEST_MIN);
    take(this.line, ids.size + TURNS_MIN);
    take(this.late, IDS_MAX);
    take(this.line, IDS_MAX);
    this.ask(ids);
    return [...ids];
  }

  /** These ids get their turn now and move to the end of the line. */
  private ask(ids: Iterable<string>): void {
    for (const id of ids) {
      this.late.delete(id);
      this.line.delete(id);
      this.line.add(id);
    }
  }

  /** Number of ids that this answer finishes. */
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

/** Tasks that ended, and unknown ids. */
interface WaitAnswer {
  readonly items?: readonly EndedTask[];
  readonly unknown?: readonly string[];
}
