import type { Worker } from 'node:worker_threads';
import type { CommittedFeed, FeedOptions } from '@sluice/engine';
import type { ChangeEvents, ChangeQuery } from './change-ring.ts';
import type { KnownProgram } from './projected-programs.ts';
import type {
  FindQuestion,
  FindRunsQuestion,
  Found,
  GroupsQuestion,
  Question,
  ReadQuestion,
  RunQuestion,
  Say,
  StepsQuestion,
  StoredSteps,
  Tell,
  ThreadData,
} from './projection-messages.ts';
import type { ProjectionStatus } from './projection-status.ts';
import type { ProjectorNotice } from './projector-parts.ts';
import type { ErrorGroups } from './rows/error-groups.ts';
import type { ProjectionMark } from './rows/mark-file.ts';
import type { RunReadmission } from './runs/run-readmission.ts';
import { startThread } from './start-thread.ts';

/**
 * Batches are gathered for this long, or up to this size: one message per batch would cost more.
 */
const GATHER_MS = 50;
const GATHERED_BYTES_MAX = 512 * 1024;

/**
 * An answer waits this long for what was committed before its request. That takes a few
 * milliseconds; on a machine without free cores it can take much longer.
 */
const FRESH_WITHIN_MS = 2000;

type Ready = Extract<Say, { readonly type: 'ready' }>;

export type ProjectionNotice =
  | ProjectorNotice
  /** Records that the log no longer has: tasks that ended in them are not found. */
  | { readonly type: 'projection_gap'; readonly from: number; readonly to: number }
  | { readonly type: 'projection_failing'; readonly why: string }
  | { readonly type: 'projection_recovered' }
  | { readonly type: 'projection_ended'; readonly why: string }
  | { readonly type: 'projection_given_up' };

export interface ProjectionOptions extends ThreadData {
  readonly notify: (notice: ProjectionNotice) => void;
  /** How long the log is kept for a projection that has ended; tests wait less. */
  readonly logHeldMs?: number;
}

/**
 * A restart within this time loses nothing. After it the log is trimmed, or a projection that has
 * ended would fill the disk.
 */
const LOG_HELD_MS = 60 * 60 * 1000;

interface SeeOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** The set that the waiting callback is added to. */
  readonly looks: Set<() => void>;
}

/**
 * The projection does not answer, for now or until the next start. Dispatch continues without it.
 */
export class ProjectionError extends Error {
  override readonly name = 'ProjectionError';
}

/**
 * The tasks for search and history, kept in a separate thread.
 *
 * Dispatch never waits for the projection: it is fed committed batches as fast as it takes them,
 * and reports how far it is.
 */
export class Projection {
  /** Where the log must feed it from. */
  readonly feedOptions: FeedOptions;
  private readonly options: ProjectionOptions;
  private readonly worker: Worker;
  private readonly waiting = new Map<number, (answer: Say & { type: 'answer' }) => void>();
  private questions = 0;
  private feed: CommittedFeed | undefined;
  private seenMark: ProjectionMark;
  private storedBytes = 0;
  /** Places of the definitions that the thread knew at its start. */
  private readonly knownPrograms: ReadonlySet<number>;
  /** Since when there are records that it has not seen. */
  private behindSince: number | undefined;
  /** Why it cannot write; undefined while it can. */
  private failing: string | undefined;
  /** Why the thread has ended; undefined while it runs. */
  private broken: string | undefined;
  private isClosing = false;
  /** Runs while the log is kept for a projection that has ended. */
  private letGo: NodeJS.Timeout | undefined;
  /** Ends the gathering early. */
  private hurry: () => void = () => undefined;
  /** Called when the thread has taken the batches that it got. */
  private onTaken: () => void = () => undefined;
  /** Callbacks of waiting queries, and of followers. Only queries end the gathering early. */
  private readonly onSeen = new Set<() => void>();
  private readonly onPassed = new Set<() => void>();

  private constructor(options: ProjectionOptions, worker: Worker, ready: Ready) {
    const { saved, bytes, programs } = ready;
    this.options = options;
    this.knownPrograms = new Set(programs);
    this.storedBytes = bytes;
    this.worker = worker;
    this.feedOptions = {
      from: saved.position,
      name: `the projection in '${options.folder}'`,
      onLost: (first) => {
        options.notify({ type: 'projection_gap', from: saved.position, to: first });
        this.tell({ type: 'skip', position: first });
      },
    };
    this.seenMark = saved;
    worker.on('message', (said: Say) => this.heard(said));
    worker.on('error', (cause) => this.ended((cause as Error).message));
    worker.on('exit', () => this.ended('its thread ended'));
  }

  /** Starts a thread that opens nothing yet, so that a later `start` with it is quick. */
  static park(data: ThreadData): Worker {
    return startThread({ ...data, isParked: true });
  }

  /** With a parked thread it needs none of its own. */
  static start(options: ProjectionOptions, parked?: Worker): Promise<Projection> {
    const { notify: _, logHeldMs: __, ...data } = options;
    // A thread that has ended has no id any more.
    const isThere = parked !== undefined && parked.threadId !== -1;
    const worker = isThere ? parked : startThread(data);
    if (isThere) worker.postMessage({ type: 'open' } satisfies Tell);
    return new Promise((resolve, reject) => {
      const hear = (said: Say): void => {
        if (said.type === 'notice') options.notify(said.notice);
        if (said.type !== 'ready') return;
        worker.off('message', hear);
        worker.off('error', reject);
        worker.off('exit', ended);
        resolve(new Projection(options, worker, said));
      };
      const ended = (): void => reject(new ProjectionError('its thread ended'));
      worker.on('message', hear);
      worker.on('error', reject);
      worker.on('exit', ended);
    });
  }

  /** Its status when `tail` records are durable. */
  status(tail: number, now: number): ProjectionStatus {
    const { position, at } = this.seenMark;
    // After an idle time the last record is old, but that is no lag.
    const since = Math.max(at, this.behindSince ?? now);
    const why = this.broken ?? this.failing;
    return {
      state: this.broken !== undefined ? 'ended' : why !== undefined ? 'failing' : 'ok',
      ...(why === undefined ? {} : { why }),
      position,
      lagRecords: Math.max(0, tail - position),
      lagMs: position < tail ? Math.max(0, now - since) : 0,
      bytes: this.storedBytes,
    };
  }

  /** Starts to take committed batches; the log has `tail` records and these definitions now. */
  follow(
    feed: CommittedFeed | undefined,
    tail: number,
    programs: readonly KnownProgram[] = [],
  ): void {
    if (feed === undefined) return;
    this.feed = feed;
    const unknown = programs.flatMap(({ place, namespace, name, version, text }) => {
      return this.knownPrograms.has(place) ? [] : [{ place, namespace, name, version, text }];
    });
    this.tell({ type: 'begin', position: tail, programs: unknown });
    this.pump(feed).catch((cause: Error) => this.ended(cause.message));
  }

  /** The tasks with these ids, or their histories; null for those that it does not have. */
  async read(question: Omit<ReadQuestion, 'type'>, fresh: number): Promise<(string | null)[]> {
    await this.reaches(fresh);
    return (await this.ask({ type: 'read', ...question })) as (string | null)[];
  }

  /** A page of matching tasks, once it has seen the log up to `fresh`, or after a short wait. */
  async find(question: Omit<FindQuestion, 'type'>, fresh: number): Promise<Found> {
    await this.reaches(fresh);
    return (await this.ask({ type: 'find', ...question })) as Found;
  }

  /** A run with its steps as JSON text; null when it does not have it. */
  /** Every change of a run, as JSON text; null when it is unknown. */
  async runHistory(question: Omit<RunQuestion, 'type'>, fresh: number): Promise<string | null> {
    await this.reaches(fresh);
    return (await this.ask({ type: 'runHistory', ...question })) as string | null;
  }

  async run(question: Omit<RunQuestion, 'type'>): Promise<string | null> {
    return (await this.ask({ type: 'run', ...question })) as string | null;
  }

  /** What is needed to restart a run; undefined when it does not have it. */
  async runReadmission(question: Omit<RunQuestion, 'type'>): Promise<RunReadmission | undefined> {
    const json = (await this.ask({ type: 'runReadmission', ...question })) as string | null;
    return json === null ? undefined : (JSON.parse(json) as RunReadmission);
  }

  /** Steps of a run; null when it does not have the run. */
  async steps(question: Omit<StepsQuestion, 'type'>): Promise<StoredSteps | null> {
    return (await this.ask({ type: 'steps', ...question })) as StoredSteps | null;
  }

  /** A page of matching runs, as `find` is of tasks. */
  async findRuns(question: Omit<FindRunsQuestion, 'type'>, fresh: number): Promise<Found> {
    await this.reaches(fresh);
    return (await this.ask({ type: 'find_runs', ...question })) as Found;
  }

  /** Dead letters, grouped by error. */
  async groups(question: Omit<GroupsQuestion, 'type'>, fresh: number): Promise<ErrorGroups> {
    await this.reaches(fresh);
    return (await this.ask({ type: 'groups', ...question })) as ErrorGroups;
  }

  /** Changes of tasks after a position of the log, as far as it has seen them. */
  async changes(query: ChangeQuery): Promise<ChangeEvents> {
    return (await this.ask({ type: 'changes', query })) as ChangeEvents;
  }

  /** Those of the blobs that tasks in the projection name. */
  async named(blobs: readonly string[]): Promise<string[]> {
    return (await this.ask({ type: 'blobs', blobs })) as string[];
  }

  /** Whether it has seen that record before the timeout or the abort of `signal`. */
  async passes(record: number, timeoutMs: number, signal: AbortSignal): Promise<boolean> {
    if (!signal.aborted) await this.sees(record + 1, { timeoutMs, signal, looks: this.onPassed });
    return this.has(record + 1);
  }

  /** Saves everything and ends. The feed is already closed. */
  async close(): Promise<void> {
    this.isClosing = true;
    clearTimeout(this.letGo);
    this.hurry();
    if (this.broken !== undefined) return;
    const ended = new Promise((resolve) => this.worker.once('exit', resolve));
    this.tell({ type: 'close' });
    await ended;
  }

  /** Ends it without saving: the next owner of the log writes the same rows, if they are true. */
  async abandon(): Promise<void> {
    this.isClosing = true;
    clearTimeout(this.letGo);
    this.hurry();
    await this.worker.terminate();
  }

  private async pump(feed: CommittedFeed): Promise<void> {
    for (;;) {
      const first = await feed.next();
      if (first === undefined) return;
      this.behindSince ??= Date.now();
      await this.gathering();
      const batches = [first];
      let bytes = first.bytes.length;
      while (bytes < GATHERED_BYTES_MAX) {
        const more = feed.take();
        if (more === undefined) break;
        batches.push(more);
        bytes += more.bytes.length;
      }
      const taken = new Promise<void>((resolve) => {
        this.onTaken = resolve;
      });
      this.tell({ type: 'batches', batches });
      await taken;
      if (feed.isEmpty) this.behindSince = undefined;
    }
  }

  private gathering(): Promise<void> {
    if (this.onSeen.size > 0 || this.isClosing) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, GATHER_MS);
      this.hurry = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Resolves when it has seen the log up to `position`, or after a timeout. */
  private async reaches(position: number): Promise<void> {
    if (this.has(position)) return;
    this.hurry();
    await this.sees(position, { timeoutMs: FRESH_WITHIN_MS, looks: this.onSeen });
  }

  /** Whether it has seen the log up to `position`, or never will. */
  private has(position: number): boolean {
    return this.seenMark.position >= position || this.broken !== undefined;
  }

  private sees(position: number, { timeoutMs, looks, signal }: SeeOptions): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        looks.delete(look);
        resolve();
      };
      const look = (): void => {
        if (this.has(position)) done();
      };
      const timer = setTimeout(done, timeoutMs);
      signal?.addEventListener('abort', done);
      looks.add(look);
      look();
    });
  }

  private async ask(question: Question): Promise<unknown> {
    if (this.broken !== undefined) throw new ProjectionError(this.broken);
    const id = ++this.questions;
    const answer = await new Promise<Say & { type: 'answer' }>((resolve) => {
      this.waiting.set(id, resolve);
      this.tell({ type: 'question', id, question });
    });
    if ('why' in answer) throw new ProjectionError(answer.why);
    return answer.value;
  }

  private tell(told: Tell): void {
    this.worker.postMessage(told);
  }

  private heard(said: Say): void {
    switch (said.type) {
      case 'taken':
        this.seenMark = said.seen;
        this.feed?.acknowledge(said.saved);
        this.onTaken();
        this.look();
        return;
      case 'saved':
        this.storedBytes = said.bytes;
        this.feed?.acknowledge(said.saved);
        return;
      case 'answer':
        this.waiting.get(said.id)?.(said);
        this.waiting.delete(said.id);
        return;
      case 'notice':
        return this.options.notify(said.notice);
      case 'failing':
        this.failing = said.why;
        return this.options.notify({ type: 'projection_failing', why: said.why });
      case 'recovered':
        this.failing = undefined;
        return this.options.notify({ type: 'projection_recovered' });
      case 'ready':
        return;
    }
  }

  private look(): void {
    for (const looks of [this.onSeen, this.onPassed]) for (const look of looks) look();
  }

  private ended(why: string): void {
    if (this.broken !== undefined) return;
    this.broken = why;
    for (const [id, resolve] of this.waiting) resolve({ type: 'answer', id, why });
    this.waiting.clear();
    this.look();
    if (this.isClosing) return;
    this.options.notify({ type: 'projection_ended', why });
    this.feed?.consumerEnded();
    this.letGo = setTimeout(() => {
      this.options.notify({ type: 'projection_given_up' });
      this.feed?.letGo();
    }, this.options.logHeldMs ?? LOG_HELD_MS);
    this.letGo.unref();
  }
}
