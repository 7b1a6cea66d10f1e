import { LIMITS } from '@sluice/protocol/limits';
import type { SendProblem } from '../base/ports.ts';
import type { Refusal } from './http-answers.ts';

/** Brackets, and a comma after each task. */
const ENVELOPE_BYTES = 2 + LIMITS.batchTasksMax;

export const CALL_BYTES_MAX = LIMITS.bodyBytesMax - ENVELOPE_BYTES;

/**
 * Calls share a request up to this many tasks. Larger requests gain little, and other clients wait
 * while the server handles one.
 */
const GATHERED_TASKS_MAX = 250;

/** Tasks of one call: all of them travel in one request. */
export interface SubmitCall<Done> {
  /** One JSON text per task, the same for every try. */
  readonly texts: readonly string[];
  /** Which of them have a dedupe key that the SDK added. */
  readonly isKeyOurs: readonly boolean[];
  /** No task has a key: the request needs one. */
  readonly isPlain: boolean;
  readonly bytes: number;
  readonly since: number;
  readonly done: Done;
  /** A request with this call got no answer, or none that certainly says that it was not stored. */
  mayBeStored: boolean;
  /** The last refusal, if any. */
  refusal: Refusal | undefined;
  /** Why the last request got no answer, if it is known. */
  problem: SendProblem | undefined;
  /**
   * A request with this call was refused, and it is unknown which call caused it. So this call is
   * sent alone.
   */
  isAlone: boolean;
}

/** Calls that share a request. */
export interface CallBatch<Done> {
  readonly calls: readonly SubmitCall<Done>[];
  /** The key of the request; undefined when only its tasks have keys. */
  readonly key: string | undefined;
}

/**
 * Calls that wait to be sent, in order. Together with those in flight they are bounded in tasks and
 * in bytes.
 *
 * submit.sealed-batch: A request that is known by its key alone is sent again as it was, also when
 *   a server did not take it: a copy of it may still be stored. So its calls are given up together,
 *   when the youngest is too old.
 */
export class PendingCalls<Done> {
  private waiting: SubmitCall<Done>[] = [];
  private sealed: CallBatch<Done>[] = [];
  private readonly tasksMax: number;
  private readonly bytesMax: number;
  private tasks = 0;
  private bytes = 0;

  constructor(bounds: { readonly tasksMax: number; readonly bytesMax: number }) {
    this.tasksMax = bounds.tasksMax;
    this.bytesMax = bounds.bytesMax;
  }

  /** No call waits, and none is in flight. */
  get isEmpty(): boolean {
    return this.tasks === 0;
  }

  /** When the call was made whose time is up first. */
  get oldestSince(): number | undefined {
    const all = [...this.sealed.map(youngestSince), ...this.waiting.slice(0, 1).map(sinceOf)];
    return all.length === 0 ? undefined : Math.min(...all);
  }

  /** Returns false when the limit would be exceeded. */
  add(call: SubmitCall<Done>): boolean {
    const tasks = this.tasks + call.texts.length;
    const bytes = this.bytes + call.bytes;
    if (tasks > this.tasksMax || bytes > this.bytesMax) return false;
    this.tasks = tasks;
    this.bytes = bytes;
    this.waiting.push(call);
    return true;
  }

  /** A batch that has to be sent again as it was. */
  takeSealed(): CallBatch<Done> | undefined {
    return this.sealed.shift();
  }

  /**
   * As many calls as fit into one request, from the front. Those of a sealed batch were made within
   * `spanMs`.
   */
  take(spanMs: number): SubmitCall<Done>[] {
    const { isPlain = false, since = 0 } = this.waiting[0] ?? {};
    let tasks = 0;
    let bytes = 0;
    let count = 0;
    for (const call of this.waiting) {
      tasks += call.texts.length;
      bytes += call.bytes;
      const isTooMuch = tasks > GATHERED_TASKS_MAX || bytes > CALL_BYTES_MAX;
      const isOther = call.isPlain !== isPlain || (isPlain && call.since > since + spanMs);
      if (count > 0 && (isTooMuch || call.isAlone || isOther)) break;
      count += 1;
      if (call.isAlone) break;
    }
    return this.waiting.splice(0, count);
  }

  takeAll(): SubmitCall<Done>[] {
    return [...this.sealed.splice(0).flatMap(({ calls }) => calls), ...this.waiting.splice(0)];
  }

  /** Keeps a batch that was taken, to be sent again as it is. */
  seal(batch: CallBatch<Done>): void {
    this.sealed.push(batch);
  }

  /** Puts calls that were taken back at the front, to be sent again first. */
  putBack(calls: readonly SubmitCall<Done>[]): void {
    this.waiting.unshift(...calls);
  }

  /** Removes and returns the calls that wait since `then` or longer. */
  takeOld(then: number): SubmitCall<Done>[] {
    const isOld = ({ since }: SubmitCall<Done>): boolean => since <= then;
    const old = this.waiting.filter(isOld);
    if (old.length > 0) this.waiting = this.waiting.filter((call) => !isOld(call));
    const isOver = (batch: CallBatch<Done>): boolean => youngestSince(batch) <= then;
    const over = this.sealed.filter(isOver).flatMap(({ calls }) => calls);
    if (over.length > 0) this.sealed = this.sealed.filter((batch) => !isOver(batch));
    return [...over, ...old];
  }

  /** The calls are finished, and no longer count. */
  forget(calls: readonly SubmitCall<Done>[]): void {
    for (const { texts, bytes } of calls) {
      this.tasks -= texts.length;
      this.bytes -= bytes;
    }
  }
}

function sinceOf({ since }: SubmitCall<unknown>): number {
  return since;
}

function youngestSince({ calls }: CallBatch<unknown>): number {
  return Math.max(...calls.map(sinceOf));
}
