import type { PartitionLimits } from '../../state/state.ts';
import { bytesOf, heldBytes } from './model-bytes.ts';
import { namespaceOfKey } from './model-keys.ts';
import { ModelOutbox } from './model-outbox.ts';
import { isOver, type ModelState, type ModelTask } from './model-task.ts';

/** The model's tasks in plain lists, and every move between them. */
export class ModelPlaces {
  readonly tasks: ModelTask[] = [];
  /** Queued tasks; within a level the first goes first. */
  readonly waiting: ModelTask[] = [];
  /** Leased tasks, oldest lease first. */
  readonly held: ModelTask[] = [];
  /** Ended tasks that are not dead letters, oldest end first. */
  readonly finished: ModelTask[] = [];
  /** Failed and timed-out tasks, oldest end first. */
  readonly dead: ModelTask[] = [];
  /** Tasks that left memory, in their last state. */
  readonly gone = new Map<number, ModelTask>();
  /** Deliveries to callbacks. */
  readonly outbox = new ModelOutbox();
  /** Keys of paused queues. */
  readonly pausedQueues = new Set<string>();
  accepted = 0;
  forgotten = 0;
  dropped = 0;
  readonly limits: PartitionLimits;
  private firstPlace = 0;
  private lastPlace = 0;

  constructor(limits: PartitionLimits) {
    this.limits = limits;
  }

  queue(
    task: ModelTask,
    reason: string,
    { now, toHead = false }: { readonly now: number; readonly toHead?: boolean },
  ): void {
    this.takeOut(task);
    if (toHead) this.waiting.unshift(task);
    else this.waiting.push(task);
    const place = toHead ? --this.firstPlace : ++this.lastPlace;
    Object.assign(task, { state: 'queued', reason, joinedAt: now, place });
  }

  sleep(task: ModelTask, reason: string, dueAt: number, jitterMs = 0): void {
    this.takeOut(task);
    Object.assign(task, { state: 'waiting', reason, dueAt, jitterMs });
  }

  finish(task: ModelTask, state: ModelState, reason: string, now: number): void {
    this.takeOut(task);
    Object.assign(task, { state, reason, endedAt: now });
    if (state === 'failed' || state === 'timed_out') this.dead.push(task);
    else this.finished.push(task);
    this.outbox.owe(task, now);
  }

  discard(task: ModelTask): void {
    this.takeOut(task);
    task.isDiscarded = true;
    this.finished.push(task);
  }

  takeOut(task: ModelTask): void {
    for (const list of [this.waiting, this.held, this.finished, this.dead]) {
      if (list.includes(task)) list.splice(list.indexOf(task), 1);
    }
    task.stop = undefined;
    task.silentAt = undefined;
  }

  /** The first to end among the selected queues. */
  oldestDead(isMeant: (type: string) => boolean): ModelTask | undefined {
    return this.dead.find((task) => isMeant(task.type));
  }

  /** The oldest of the namespace with the most dead letters; on a tie, the one that ended first. */
  private oldestOfMost(): ModelTask | undefined {
    const lists = Object.values(Object.groupBy(this.dead, ({ type }) => namespaceOfKey(type)));
    return lists
      .map((list = []) => ({ length: list.length, first: list[0] }))
      .toSorted(
        (a, b) =>
          b.length - a.length ||
          a.first.endedAt - b.first.endedAt ||
          a.first.number - b.first.number,
      )[0]?.first;
  }

  /** What counts towards the quotas of a namespace: open tasks and dead letters. */
  useOf(namespace: string): { tasks: number; payloadBytes: number } {
    const counted = this.tasks.filter((task) => {
      return namespaceOfKey(task.type) === namespace && !this.finished.includes(task);
    });
    const payloadBytes = counted.reduce((sum, { input, result }) => {
      return sum + bytesOf(input) + bytesOf(result);
    }, 0);
    return { tasks: counted.length, payloadBytes };
  }

  /** Whether an ended task that ran again with this input would exceed a quota. */
  isOverQuota(task: ModelTask, input: string): boolean {
    const { quotas } = this.limits;
    if (quotas === undefined) return false;
    const use = this.useOf(namespaceOfKey(task.type));
    const isCounted = this.dead.includes(task);
    const held = isCounted ? bytesOf(task.input) + bytesOf(task.result) : 0;
    const bytes = bytesOf(input) - held;
    const hasRoom = isCounted || use.tasks < quotas.tasksMax;
    return !hasRoom || (bytes > 0 && use.payloadBytes + bytes > quotas.payloadBytesMax);
  }

  /** Makes room for `bytes` by forgetting the tasks that ended first; dead letters stay. */
  forgetOldest(bytes = 0): void {
    const { deadLettersMax, finishedTasksMax, payloadBytesMax } = this.limits;
    while (this.dead.length > deadLettersMax) this.dropOldest();
    this.outbox.drop(this.limits.callbacksMax);
    while (this.finished.length > finishedTasksMax || this.heldBytes + bytes > payloadBytesMax) {
      const task = this.finished.shift();
      if (task === undefined) return;
      this.tasks.splice(this.tasks.indexOf(task), 1);
      this.gone.set(task.number, task);
      this.forgotten += 1;
    }
  }

  private dropOldest(): void {
    const task = this.oldestOfMost();
    if (task === undefined) return;
    this.discard(task);
    this.dropped += 1;
  }

  get heldBytes(): number {
    return heldBytes(this.tasks, this.outbox.all);
  }

  /** A task that left memory comes back and runs again. */
  readmit(task: ModelTask, now: number): void {
    this.gone.delete(task.number);
    this.forgotten -= 1;
    this.tasks.push(task);
    this.queue(task, 'retried', { now });
    Object.assign(task, { attempt: 0, result: '', answered: '', liveSince: now });
    Object.assign(task, { lease: undefined, session: undefined, isDiscarded: false });
  }

  /** Open tasks in no list: waiting, paused or deferred. */
  get idle(): readonly ModelTask[] {
    const listed = new Set([...this.waiting, ...this.held]);
    return this.tasks.filter((task) => !isOver(task) && !listed.has(task));
  }
}
