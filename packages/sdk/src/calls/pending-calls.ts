import { LIMITS } from '@sluice/protocol/limits';
import type { Refusal } from './http-answers.ts';

/** Brackets, and a comma behind each task. */
const ENVELOPE_BYTES = 2 + LIMITS.batchTasksMax;

export const CALL_BYTES_MAX = LIMITS.bodyBytesMax - ENVELOPE_BYTES;

/**
 * Calls share a request up to so many tasks: of more they gain little, and everybody else waits
 * while a server is busy with a large one.
 */
const GATHERED_TASKS_MAX = 250;

/** Tasks that somebody submits together: all of them travel in one request. */
export interface SubmitCall<Done> {
  /** One JSON text per task, each time the same. */
  readonly texts: readonly string[];
  /** Which of them have a dedupe key that the caller did not ask for. */
  readonly isKeyOurs: readonly boolean[];
  readonly bytes: number;
  readonly since: number;
  readonly done: Done;
  /** A request with it got no answer, or none that says for certain that it was not taken. */
  mayBeStored: boolean;
  /** Why it was not taken the last time somebody said so. */
  refusal: Refusal | undefined;
  /** Something was wrong with a request and nobody knows with which call: it travels by itself. */
  isAlone: boolean;
}

/**
 * Calls that wait to be sent, in order, bounded in tasks and in bytes together with those in
 * flight.
 */
export class PendingCalls<Done> {
  private waiting: SubmitCall<Done>[] = [];
  private readonly tasksMax: number;
  private readonly bytesMax: number;
  private tasks = 0;
  private bytes = 0;

  constructor(bounds: { readonly tasksMax: number; readonly bytesMax: number }) {
    this.tasksMax = bounds.tasksMax;
    this.bytesMax = bounds.bytesMax;
  }

  /** Nothing waits, and nothing is in flight. */
  get isEmpty(): boolean {
    return this.tasks === 0;
  }

  get oldest(): SubmitCall<Done> | undefined {
    return this.waiting[0];
  }

  /** False when it would be too much. */
  add(call: SubmitCall<Done>): boolean {
    const tasks = this.tasks + call.texts.length;
    const bytes = this.bytes + call.bytes;
    if (tasks > this.tasksMax || bytes > this.bytesMax) return false;
    this.tasks = tasks;
    this.bytes = bytes;
    this.waiting.push(call);
    return true;
  }

  /** As many as fit into one request, from the front. */
  take(): SubmitCall<Done>[] {
    let tasks = 0;
    let bytes = 0;
    let count = 0;
    for (const call of this.waiting) {
      tasks += call.texts.length;
      bytes += call.bytes;
      const isTooMuch = tasks > GATHERED_TASKS_MAX || bytes > CALL_BYTES_MAX;
      if (count > 0 && (isTooMuch || call.isAlone)) break;
      count += 1;
      if (call.isAlone) break;
    }
    return this.waiting.splice(0, count);
  }

  takeAll(): SubmitCall<Done>[] {
    return this.waiting.splice(0);
  }

  /** They were taken and have to be sent again, before everything else. */
  putBack(calls: readonly SubmitCall<Done>[]): void {
    this.waiting.unshift(...calls);
  }

  /** Takes out those that wait since `then` or longer. */
  takeOld(then: number): SubmitCall<Done>[] {
    const old = this.waiting.filter(({ since }) => since <= then);
    if (old.length > 0) this.waiting = this.waiting.filter(({ since }) => since > then);
    return old;
  }

  /** They were taken and are done with. */
  forget(calls: readonly SubmitCall<Done>[]): void {
    for (const { texts, bytes } of calls) {
      this.tasks -= texts.length;
      this.bytes -= bytes;
    }
  }
}
