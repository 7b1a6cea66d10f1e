import type { TaskRequest } from '@sluice/protocol';
import { LIMITS } from '@sluice/protocol/limits';
import { BACKOFF_DEFAULT, Backoff, type BackoffOptions } from '../base/backoff.ts';
import { freshKeys } from '../base/fresh-keys.ts';
import { fitsRequest, jsonText, utf8Bytes } from '../base/json-text.ts';
import type { Cancel, ClientPorts, HttpAnswer, SendProblem } from '../base/ports.ts';
import {
  isHopeless,
  isPassing,
  isUntouched,
  jsonOf,
  type Refusal,
  refusalOf,
  withDetails,
} from '../calls/http-answers.ts';
import {
  CALL_BYTES_MAX,
  type CallBatch,
  PendingCalls,
  type SubmitCall,
} from '../calls/pending-calls.ts';
import { type LaneRequest, RequestLane } from '../calls/request-lane.ts';

/** The API's rule: a request is sent at once while fewer than two are in flight. */
const IN_FLIGHT_MAX = 2;

/**
 * How long a request may still be under way after its call gave up. A server that stood still for
 * more than a few seconds refuses requests that waited meanwhile.
 */
const STRAY_MS = 60_000;

/** Share of that time by which calls may be apart that are given up together. */
const GIVE_UP_TOGETHER = 0.1;

export interface SubmitterOptions {
  /** Number of the server's addresses. */
  readonly addresses: number;
  /** A request without an answer for this long is sent again. */
  readonly answerWithinMs?: number;
  /** A call that was not accepted within this time fails. */
  readonly giveUpAfterMs?: number;
  /** Limits of what may wait or be in flight; a call beyond them fails at once. */
  readonly pending?: { readonly tasksMax: number; readonly bytesMax: number };
  readonly backoff?: BackoffOptions;
}

const DEFAULTS = {
  answerWithinMs: 5000,
  giveUpAfterMs: 60_000,
  pending: { tasksMax: 100_000, bytesMax: 64 * 1024 * 1024 },
  backoff: BACKOFF_DEFAULT,
};

export interface SubmittedTask {
  readonly id: string;
  readonly state: string;
  /** A task with the caller's dedupe key existed already. */
  readonly deduplicated: boolean;
}

export type SubmitOutcome =
  | { readonly type: 'submitted'; readonly tasks: readonly SubmittedTask[] }
  /** Nothing of the call was stored. Paths in the details begin with the index in the call. */
  | { readonly type: 'refused'; readonly refusal: Refusal }
  /**
   * Nothing was sent: the inputs at these indexes are too big for any request. Reported at once.
   */
  | { readonly type: 'large'; readonly places: readonly number[] }
  /** No server answered in time: the tasks may be stored or not. */
  | { readonly type: 'unknown'; readonly problem?: SendProblem }
  /** The submitter was closed before there was an answer: the tasks may be stored or not. */
  | { readonly type: 'closed' };

type Done = (outcome: SubmitOutcome) => void;
type Call = SubmitCall<Done>;
type Batch = CallBatch<Done>;

/**
 * Submits tasks: gathers calls into requests without a timer, and sends them again until they are
 * answered.
 *
 * submit.stored-once: A task is stored once, however often it is sent. A request whose tasks have
 *   no keys gets one, and a resend is the same bytes. The server remembers the key for longer than
 *   the client resends it. Until a server has shown that it knows keys of requests, each task gets
 *   one.
 * submit.whole-call: The tasks of one call travel in one request, so a call is stored completely or
 *   not at all. Calls that share a request do not affect each other: a problem of one call fails
 *   only that call.
 * submit.one-outcome: Every call gets one outcome, and the number of waiting calls is bounded (L9).
 */
export class Submitter {
  private readonly options: Required<SubmitterOptions>;
  private readonly ports: ClientPorts;
  private readonly lane: RequestLane;
  private readonly calls: PendingCalls<Done>;
  private readonly newKey: () => string;
  private readonly inFlight = new Set<Batch>();
  /** The server's last answer confirmed the key of its request. */
  private knowsRequestKeys = false;
  private ageTimer: Cancel | undefined;
  /** When it fires; meaningless without it. */
  private ageTimerAt = 0;
  private isClosed = false;

  constructor(options: SubmitterOptions, ports: ClientPorts) {
    this.options = { ...DEFAULTS, ...options };
    this.ports = ports;
    const { addresses, backoff, pending } = this.options;
    this.calls = new PendingCalls(pending);
    this.lane = new RequestLane({
      ports,
      addresses,
      backoff: new Backoff(ports, backoff, addresses),
      inFlightMax: IN_FLIGHT_MAX,
      next: () => this.next(),
    });
    this.newKey = freshKeys(ports);
  }

  /** Submits tasks, all or none. `done` may be called before this returns. */
  submit(tasks: readonly TaskRequest[], done: Done): void {
    if (this.isClosed) {
      done({ type: 'closed' });
      return;
    }
    const call = this.callOf(tasks, done);
    if ('places' in call) {
      done({ type: 'large', places: call.places });
    } else if ('code' in call) {
      done({ type: 'refused', refusal: call });
    } else if (!this.calls.add(call)) {
      const message = 'too many tasks wait to be submitted; try again later';
      done({ type: 'refused', refusal: { status: 429, code: 'overloaded', message, details: [] } });
    } else {
      this.watchAge();
      this.lane.gather();
    }
  }

  /** Sends nothing more; pending calls get the outcome `closed`. */
  close(): void {
    this.isClosed = true;
    this.ageTimer?.();
    this.lane.close();
    const calls = [...[...this.inFlight].flatMap(({ calls }) => calls), ...this.calls.takeAll()];
    this.inFlight.clear();
    for (const { done } of calls) done({ type: 'closed' });
  }

  /** The call as it is sent, or its problems, or the indexes of inputs that are too large. */
  private callOf(
    tasks: readonly TaskRequest[],
    done: Done,
  ): Call | Refusal | { readonly places: readonly number[] } {
    if (tasks.length === 0 || tasks.length > LIMITS.batchTasksMax) {
      return wrong(
        400,
        'invalid_request',
        '',
        `has ${tasks.length} tasks; 1 to ${LIMITS.batchTasksMax} are allowed`,
      );
    }
    const isPlain = this.knowsRequestKeys && tasks.every(isSettledByItself);
    const texts: string[] = [];
    const places: number[] = [];
    let bytes = 0;
    for (const [place, task] of tasks.entries()) {
      const needsKey = !isPlain && task.dedupeKey === undefined;
      const json = jsonText(needsKey ? this.withFreshKey(task) : task);
      if ('problem' in json) {
        return wrong(400, 'invalid_request', `/${place}`, `is not JSON: ${json.problem}`);
      }
      const taskBytes = utf8Bytes(json.text);
      if (taskBytes > LIMITS.payloadBytesMax && !fitsRequest(JSON.stringify(task.input) ?? '')) {
        places.push(place);
      } else if (places.length === 0) {
        texts.push(json.text);
        bytes += taskBytes;
      }
    }
    if (places.length > 0) return { places };
    if (bytes > CALL_BYTES_MAX) {
      const problem = `is ${bytes} bytes of JSON; at most ${CALL_BYTES_MAX} are allowed`;
      return wrong(413, 'payload_too_large', '', problem);
    }
    return {
      texts,
      isKeyOurs: tasks.map(({ dedupeKey }) => dedupeKey === undefined),
      isPlain,
      bytes,
      since: this.ports.now(),
      done,
      mayBeStored: false,
      refusal: undefined,
      problem: undefined,
      isAlone: false,
    };
  }

  private withFreshKey(task: TaskRequest): TaskRequest {
    return { ...task, dedupeKey: `sdk.${this.newKey()}`, dedupeWindowMs: this.windowMs };
  }

  private get windowMs(): number {
    const { answerWithinMs, giveUpAfterMs } = this.options;
    const neededMs = Math.ceil(giveUpAfterMs + answerWithinMs + STRAY_MS);
    return Math.min(neededMs, LIMITS.dedupeWindowMsMax);
  }

  private next(): LaneRequest | undefined {
    const batch = this.calls.takeSealed() ?? this.nextBatch();
    if (batch === undefined) return undefined;
    this.inFlight.add(batch);
    const { calls, key } = batch;
    return {
      method: 'POST',
      path: '/v1/tasks',
      body: `[${calls.flatMap(({ texts }) => texts).join(',')}]`,
      ...(key === undefined ? {} : { requestKey: { key, windowMs: this.windowMs } }),
      answerWithinMs: this.options.answerWithinMs,
      settled: (answer, problem) => {
        this.inFlight.delete(batch);
        for (const call of calls) call.problem = problem;
        if (!isHopeless(problem, this.options.addresses)) return this.settle(batch, answer);
        this.forget(calls);
        for (const { done } of calls) done(noAnswerTo(problem));
        return false;
      },
    };
  }

  private nextBatch(): Batch | undefined {
    const calls = this.calls.take(this.options.giveUpAfterMs * GIVE_UP_TOGETHER);
    if (calls.length === 0) return undefined;
    // A key that nothing depends on asks the server whether it knows keys of requests.
    const needsKey = calls[0].isPlain || !this.knowsRequestKeys;
    return { calls, key: needsKey ? `sdk.${this.newKey()}` : undefined };
  }

  private settle(batch: Batch, answer: HttpAnswer | undefined): boolean {
    const { calls, key } = batch;
    const items = answer !== undefined && answer.status < 300 ? itemsOf(answer, calls) : undefined;
    if (items !== undefined) {
      if (key !== undefined) this.knowsRequestKeys = answer?.requestKey === key;
      this.forget(calls);
      handOut(calls, items);
      return true;
    }
    const refusal = answer === undefined || answer.status < 300 ? undefined : refusalOf(answer);
    if (refusal === undefined || isPassing(refusal)) {
      for (const call of calls) {
        call.mayBeStored ||= refusal === undefined || !isUntouched(refusal);
        call.refusal = refusal;
      }
      // Another copy of it may arrive, even if this one was refused.
      if (calls[0].isPlain) this.calls.seal(batch);
      else this.calls.putBack(calls);
      this.giveUpOld();
      return false;
    }
    this.sortOut(calls, refusal);
    return true;
  }

  /**
   * Nothing of the request was stored. The calls that caused the refusal fail; the others are sent
   * again.
   */
  private sortOut(calls: readonly Call[], refusal: Refusal): void {
    const isAboutItems =
      [400, 409, 413].includes(refusal.status) || refusal.code === 'blob_not_found';
    const blamed = isAboutItems
      ? blameOf(calls, refusal)
      : calls.map((call) => ({ call, refusal }));
    if (blamed.length === 0 && calls.length === 1) blamed.push({ call: calls[0], refusal });
    const isBad = new Set(blamed.map(({ call }) => call));
    const others = calls.filter((call) => !isBad.has(call));
    if (isBad.size === 0) for (const call of others) call.isAlone = true;
    this.calls.putBack(others);
    this.forget([...isBad]);
    for (const { call, refusal } of blamed) call.done({ type: 'refused', refusal });
  }

  private forget(calls: readonly Call[]): void {
    this.calls.forget(calls);
    if (!this.calls.isEmpty) return;
    this.ageTimer?.();
    this.ageTimer = undefined;
  }

  private watchAge(): void {
    const { oldestSince } = this.calls;
    if (oldestSince === undefined) return;
    const giveUpAt = oldestSince + this.options.giveUpAfterMs;
    if (this.ageTimer !== undefined && giveUpAt >= this.ageTimerAt) return;
    this.ageTimer?.();
    this.ageTimerAt = giveUpAt;
    const delayMs = Math.max(1, giveUpAt - this.ports.now());
    this.ageTimer = this.ports.startTimer(delayMs, () => {
      this.ageTimer = undefined;
      this.giveUpOld();
    });
  }

  private giveUpOld(): void {
    const old = this.calls.takeOld(this.ports.now() - this.options.giveUpAfterMs);
    this.forget(old);
    this.watchAge();
    for (const { done, mayBeStored, refusal, problem } of old) {
      const isKnown = !mayBeStored && refusal !== undefined;
      done(isKnown ? { type: 'refused', refusal } : noAnswerTo(problem));
    }
  }
}

function noAnswerTo(problem: SendProblem | undefined): SubmitOutcome {
  return problem === undefined ? { type: 'unknown' } : { type: 'unknown', problem };
}

/**
 * Whether nothing but its own JSON decides if the server takes the task. Then a copy of the request
 * that arrives late is refused like the first, and the other calls may go into another request.
 */
function isSettledByItself({ dedupeKey, inputBlob, exec }: TaskRequest): boolean {
  return dedupeKey === undefined && inputBlob === undefined && exec === undefined;
}

function wrong(status: number, code: string, path: string, problem: string): Refusal {
  return {
    status,
    code,
    message: `${path || 'the call'} ${problem}`,
    details: [{ path, problem }],
  };
}

function itemsOf(answer: HttpAnswer, calls: readonly Call[]): readonly SubmittedTask[] | undefined {
  const items = (jsonOf(answer) as { items?: unknown } | null | undefined)?.items;
  const count = calls.reduce((sum, { texts }) => sum + texts.length, 0);
  return Array.isArray(items) && items.length === count ? items : undefined;
}

function handOut(calls: readonly Call[], items: readonly SubmittedTask[]): void {
  let start = 0;
  for (const { texts, isKeyOurs, done } of calls) {
    const tasks = items
      .slice(start, start + texts.length)
      .map(({ id, state, deduplicated }, at) => {
        // With a key of ours, the existing task is from an earlier try, which the caller need not
        // know.
        return { id, state, deduplicated: deduplicated && !isKeyOurs[at] };
      });
    start += texts.length;
    done({ type: 'submitted', tasks });
  }
}

/** The calls that the details name, with paths relative to each call. */
function blameOf(calls: readonly Call[], refusal: Refusal): { call: Call; refusal: Refusal }[] {
  let start = 0;
  return calls.flatMap((call) => {
    const first = start;
    start += call.texts.length;
    const details = refusal.details.flatMap(({ path, problem }) => {
      const [, place, rest] = /^\/(\d+)(.*)$/.exec(path) ?? [];
      const at = Number(place) - first;
      return at >= 0 && at < call.texts.length ? [{ path: `/${at}${rest}`, problem }] : [];
    });
    return details.length === 0 ? [] : [{ call, refusal: withDetails(refusal, details) }];
  });
}
