import {
  areTextsSame,
  type EventOf,
  isHeld,
  LEASED,
  listTexts,
  NO_ANSWER,
  namedTexts,
  QUEUED,
  REASONS,
  RUNNING,
  SUCCEEDED,
  SUCCEEDED_ANSWER,
  type TaskText,
  WAITING,
} from '@sluice/core';
import type { ChangeRecord } from './change-record.ts';
import { type Later, type StepOfRun, type TaskRecord, textOf } from './task-record.ts';

const DELAYED = REASONS.indexOf('delayed');
const SUBMITTED = REASONS.indexOf('submitted');
const DUE = REASONS.indexOf('due');
const LEASED_NOW = REASONS.indexOf('leased');
const STARTED = REASONS.indexOf('started');
const DONE = REASONS.indexOf('succeeded');

/** What many tasks have in common. Tasks that come soon after each other share one object. */
export interface Details extends Readonly<Record<TaskText, string>> {
  readonly queue: string;
  readonly priority: number;
  /** The first part of the body of a row. */
  readonly packed: string;
}

/** What a task is made of, beside its details. */
interface Told {
  readonly number: number;
  readonly submittedAt: number;
  readonly input: string;
  readonly runAt: number;
  readonly step: StepOfRun | undefined;
  readonly isDiscarded: boolean;
}

const NO_CHANGE: readonly ChangeRecord[] = [[0, 0, 0, 0, 0, '']];

/** Different details of the last tasks: most tasks have those of one shortly before. */
const RECENT_MAX = 8;
const recent: Details[] = [];
let nextRecent = 0;

/** Most tasks have the worker of the one before. */
let lastWorker = '';
let lastWorkerJson = '""';

/**
 * A task that was submitted, leased, and succeeded at its first attempt, or is on its way there:
 * nearly all tasks. What it shows follows from a few times, so it needs no lists, which would be
 * most of the time and of the memory of a task. Everything else that may happen to a task turns it
 * into a `TaskRecord`. Both lead to the same rows, which a test checks.
 */
export class UsualTask {
  readonly number: number;
  readonly submittedAt: number;
  readonly input: string;
  /** Absent for a task that belongs to no run. */
  readonly step: StepOfRun | undefined;
  readonly isDiscarded: boolean;
  private readonly details: Details;
  private readonly runAt: number;
  state: number;
  /** When its delay ended; 0 without a delay. */
  private queuedAt = 0;
  private leasedAt = 0;
  private worker = '';
  /** 0 when the start was not reported. */
  private startedAt = 0;
  /** Whether a separate report told the start, so that the history shows it. */
  private wasRunning = false;
  endedAt = 0;
  result = '';

  private constructor(details: Details, told: Told) {
    this.details = details;
    this.number = told.number;
    this.submittedAt = told.submittedAt;
    this.input = told.input;
    this.runAt = told.runAt;
    this.step = told.step;
    this.isDiscarded = told.isDiscarded;
    this.state = told.runAt > told.submittedAt ? WAITING : QUEUED;
  }

  /** Nothing has happened to it since its submit. */
  static fresh(details: Details, told: Told): UsualTask {
    return new UsualTask(details, told);
  }

  static submitted(event: EventOf<'task_submitted'>, at: number): UsualTask {
    const { task: number, runAt } = event;
    const told = { number, submittedAt: at, input: textOf(event.input), runAt };
    return new UsualTask(sharedDetails(event.taskType, event), {
      ...told,
      step: undefined,
      isDiscarded: false,
    });
  }

  /** A step's task never counts as a dead letter: its run deals with its failure. */
  static ofStep(event: EventOf<'step_submitted'>, at: number, step?: StepOfRun): UsualTask {
    const { task: number, runAt } = event;
    const told = { number, submittedAt: at, input: textOf(event.input), runAt };
    return new UsualTask(sharedDetails(event.taskType, event), {
      ...told,
      step,
      isDiscarded: true,
    });
  }

  /** A task to which nothing has happened since its submit; undefined for any other. */
  static of(record: TaskRecord): UsualTask | undefined {
    const { changes, attempts, deliveries, state, cancelAskedAt, dueAt, step } = record;
    const [[, from, , reason]] = changes.length === 1 ? changes : NO_CHANGE;
    const isFirst = from === -1 && (reason === SUBMITTED || reason === DELAYED);
    const isUsual = isFirst && attempts.length === 0 && deliveries.length === 0;
    const isOpen = state === WAITING || state === QUEUED;
    const isDue = reason === SUBMITTED && dueAt !== record.submittedAt;
    if (!isUsual || !isOpen || isDue || cancelAskedAt !== 0) return undefined;
    const { number, submittedAt, input, isDiscarded } = record;
    const told = { number, submittedAt, input, runAt: dueAt, step, isDiscarded };
    return new UsualTask(sharedDetails(record.queue, record), told);
  }

  get queue(): string {
    return this.details.queue;
  }

  get parent(): string {
    return this.details.parent;
  }

  get tags(): string {
    return this.details.tags;
  }

  get attempt(): number {
    return this.leasedAt === 0 ? 0 : 1;
  }

  /** Applies one more event. Returns false, and changes nothing, if it is not a usual one. */
  advance(event: Later, at: number): boolean {
    switch (event.type) {
      case 'attempt_leased':
        if (this.state !== QUEUED) return false;
        this.leasedAt = at;
        this.worker = event.worker;
        this.state = LEASED;
        return true;
      case 'attempt_started':
        if (this.state !== LEASED) return false;
        this.startedAt = at;
        this.wasRunning = true;
        this.state = RUNNING;
        return true;
      case 'attempt_succeeded':
        if (!isHeld(this.state)) return false;
        if (this.startedAt === 0) this.startedAt = event.startedAt;
        this.result = textOf(event.output);
        this.endedAt = at;
        this.state = SUCCEEDED;
        return true;
      case 'task_due':
        if (this.state !== WAITING) return false;
        this.queuedAt = at;
        this.state = QUEUED;
        return true;
      default:
        return false;
    }
  }

  get lastChange(): ChangeRecord {
    switch (this.state) {
      case SUCCEEDED:
        return this.ended;
      case RUNNING:
        return this.started;
      case LEASED:
        return this.leased;
      default:
        return this.queuedAt === 0 ? this.first : this.due;
    }
  }

  get changes(): ChangeRecord[] {
    const changes = [this.first];
    if (this.queuedAt !== 0) changes.push(this.due);
    if (this.leasedAt !== 0) changes.push(this.leased);
    if (this.wasRunning) changes.push(this.started);
    if (this.endedAt !== 0) changes.push(this.ended);
    return changes;
  }

  private get first(): ChangeRecord {
    return this.runAt > this.submittedAt
      ? [this.submittedAt, -1, WAITING, DELAYED, 0, '']
      : [this.submittedAt, -1, QUEUED, SUBMITTED, 0, ''];
  }

  private get due(): ChangeRecord {
    return [this.queuedAt, WAITING, QUEUED, DUE, 0, ''];
  }

  private get leased(): ChangeRecord {
    return [this.leasedAt, QUEUED, LEASED, LEASED_NOW, 1, this.worker];
  }

  private get started(): ChangeRecord {
    return [this.startedAt, LEASED, RUNNING, STARTED, 1, this.worker];
  }

  private get ended(): ChangeRecord {
    const from = this.wasRunning ? RUNNING : LEASED;
    return [this.endedAt, from, SUCCEEDED, DONE, 1, this.worker];
  }

  private get dueAt(): number {
    if (this.queuedAt !== 0) return this.queuedAt;
    return Math.max(this.runAt, this.submittedAt);
  }

  private get answer(): number {
    return this.endedAt === 0 ? NO_ANSWER : SUCCEEDED_ANSWER;
  }

  /** The same as `packBody` of its record. Written out: nearly every row has such a body. */
  packBody(): string {
    const { submittedAt, queuedAt, leasedAt, startedAt, endedAt, runAt, step } = this;
    const isDelayed = runAt > submittedAt;
    let changes = isDelayed
      ? `[${submittedAt},-1,${WAITING},${DELAYED},0,""]`
      : `[${submittedAt},-1,${QUEUED},${SUBMITTED},0,""]`;
    let reason = isDelayed ? DELAYED : SUBMITTED;
    if (queuedAt !== 0) {
      changes += `,[${queuedAt},${WAITING},${QUEUED},${DUE},0,""]`;
      reason = DUE;
    }
    let attempts = '';
    if (leasedAt !== 0) {
      const worker = workerJson(this.worker);
      const outcome = endedAt === 0 ? '""' : '"succeeded"';
      attempts = `[1,${worker},${leasedAt},${startedAt},${endedAt},${outcome},"",""]`;
      changes += `,[${leasedAt},${QUEUED},${LEASED},${LEASED_NOW},1,${worker}]`;
      reason = LEASED_NOW;
      if (this.wasRunning) {
        changes += `,[${startedAt},${LEASED},${RUNNING},${STARTED},1,${worker}]`;
        reason = STARTED;
      }
      if (endedAt !== 0) {
        const from = this.wasRunning ? RUNNING : LEASED;
        changes += `,[${endedAt},${from},${SUCCEEDED},${DONE},1,${worker}]`;
        reason = DONE;
      }
    }
    const { state, attempt, dueAt, answer } = this;
    const end = step === undefined ? ']' : `,[],${JSON.stringify(step)}]`;
    const isDiscarded = this.isDiscarded ? 1 : 0;
    const progress = `${state},${reason},${attempt},${dueAt},${endedAt},0,${answer},${isDiscarded}`;
    return `[${this.details.packed},[${progress}],[${attempts}],[${changes}]${end}`;
  }

  /** The same task as a record, to which anything may happen. */
  toRecord(): TaskRecord {
    const { number, submittedAt, state, attempt, dueAt, endedAt, answer, changes } = this;
    const { queue, priority } = this.details;
    const { worker, leasedAt, startedAt, input, result, isDiscarded, step } = this;
    const outcome = endedAt === 0 ? '' : 'succeeded';
    const [, , , reason] = this.lastChange;
    const began = { attempt, worker, leasedAt, startedAt, endedAt, outcome, error: '', output: '' };
    return {
      ...{ number, submittedAt, queue, priority, ...namedTexts(listTexts(this.details)), input },
      ...{ state, reason, attempt, dueAt, endedAt, cancelAskedAt: 0, answer, result, isDiscarded },
      ...{ attempts: attempt === 0 ? [] : [began], changes, deliveries: [] },
      ...(step === undefined ? {} : { step }),
    };
  }

  /** Wherever it is stored as JSON, it is a record. */
  toJSON(): TaskRecord {
    return this.toRecord();
  }
}

/** A queue and what a client said about a task. */
type Said = Readonly<Record<TaskText, string>> & { readonly priority: number };

export function sharedDetails(queue: string, said: Said): Details {
  for (const known of recent) if (known.queue === queue && isSame(known, said)) return known;
  const { priority } = said;
  const texts = listTexts(said);
  const packed = JSON.stringify([priority, ...texts]);
  const details = { queue, priority, ...namedTexts(texts), packed };
  recent[nextRecent] = details;
  nextRecent = (nextRecent + 1) % RECENT_MAX;
  return details;
}

function isSame(one: Said, other: Said): boolean {
  return one.priority === other.priority && areTextsSame(one, other);
}

function workerJson(worker: string): string {
  if (worker !== lastWorker) {
    lastWorker = worker;
    lastWorkerJson = JSON.stringify(worker);
  }
  return lastWorkerJson;
}
