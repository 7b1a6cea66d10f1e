import type {
  AdvanceTime,
  Command,
  Partition,
  PartitionReader,
  ReadonlyState,
  Replies,
} from '@sluice/core';
import type { LogBatch, LogHold } from '@sluice/log';
import { ADMISSION_BOUNDS, type AdmissionClass } from './admission.ts';
import { Alarm } from './alarm.ts';
import { Batch, type Releasable } from './batch.ts';
import { CommittedFeed, type FeedOptions, feedWithin, type Watermark } from './committed-feed.ts';
import { EngineStoppedError, FencedError } from './engine-errors.ts';
import type { EngineOptions } from './engine-options.ts';
import { hasOutputs } from './output-port.ts';
import { recoverAndAcquire } from './recovery.ts';
import { ShownParts, type Shows } from './shown-parts.ts';
import { SnapshotKeeper } from './snapshot-keeper.ts';
import { WaitingViews } from './waiting-views.ts';

type StartedOptions = Omit<EngineOptions, 'feed'> & { readonly feed?: FeedOptions };

/** A command without its time, which the engine's clock adds. */
export type Request<C extends Command = Command> = C extends Command ? Omit<C, 'now'> : never;

const UNKNOWN_PAUSE_MS_MAX = 1000;

/**
 * The loop around one partition: decide, apply, append, release.
 *
 * engine.one-append: One append is outstanding; the commands that arrive meanwhile, and in the turn
 *   in which it ends, are the next batch.
 * engine.after-commit: Answers of `execute` and `read`, and pushes of commands, leave after the
 *   commit of the last event that they can have seen; at once when nothing is uncommitted (L2).
 * engine.untouched: A view that says which tasks and runs it shows waits only for batches that
 *   touched one of them. What it shows of the others is durable, whatever becomes of the batches.
 *   So a stuck commit delays only reads of what it changes.
 * engine.definite-append: An unknown append is repeated unchanged until its answer is definite. A
 *   fenced or failed one ends this engine, and nothing that waited is released (L5).
 * engine.no-new-work: While the disk is far behind, or full, no lease is granted and no timer
 *   fires: they would only create more work that cannot be recorded. Both are made up for when the
 *   disk has caught up.
 * engine.term: What leaves without a commit leaves only while no other server can hold the
 *   partition. What a later commit releases needs no term: the commit proves the epoch.
 */
export class Engine {
  private readonly options: StartedOptions;
  private readonly partition: Partition;
  private open: Batch;
  /** The batch whose append is outstanding. */
  private appending: Batch | undefined;
  /** The other batch object while no append is outstanding. */
  private idle: Batch | undefined;
  private readonly shown: ShownParts;
  /** Undefined when no other server can hold the partition. */
  private readonly views: WaitingViews | undefined;
  private readonly epoch: number;
  /** How many records are durable. */
  private tail: number;
  private readonly keeper: SnapshotKeeper | undefined;
  /** The committed batches, for the one consumer announced at the start. */
  readonly feed: CommittedFeed | undefined;
  private stopped: EngineStoppedError | undefined;
  /** Timers are stopped: due timers fire after the next start. */
  private isClosing = false;
  /** An append starts at the end of this turn. */
  private isScheduled = false;
  /** Rings when a task's timer may be due. */
  private readonly alarm: Alarm;
  /** Resolves `close` once nothing is outstanding. */
  private onQuiet: (() => void) | undefined;

  private constructor(options: StartedOptions, hold: LogHold, partition: Partition) {
    this.options = options;
    this.epoch = hold.epoch;
    this.tail = hold.tail;
    this.partition = partition;
    this.keeper = this.makeKeeper();
    this.feed = this.makeFeed();
    this.open = new Batch(options.partition.utf8);
    this.idle = new Batch(options.partition.utf8);
    this.shown = new ShownParts(partition);
    this.views = options.term && new WaitingViews(options.term, options.startTimer);
    this.numberOpen(1);
    this.alarm = new Alarm(options.startTimer, () => this.advanceTime());
  }

  /**
   * Acquires the log, loads the newest snapshot, replays the records after it and expects its
   * sessions back. Rejects with a `RecoveryError` when snapshot and log leave a gap.
   */
  static async start({ feed: asked, ...options }: EngineOptions): Promise<Engine> {
    const recovered = await recoverAndAcquire(options);
    const { hold, partition, position, replayedBytes } = recovered;
    const feed = feedWithin(typeof asked === 'function' ? await asked() : asked, hold);
    const engine = new Engine({ ...options, ...(feed && { feed }) }, hold, partition);
    options.onRecovered?.(partition.state.now);
    partition.expectHolders(options.clock(), options.graceMsMin);
    engine.setAlarm();
    engine.keeper?.grew(hold.tail, replayedBytes);
    options.notify({ type: 'recovered', snapshot: position, tail: hold.tail, replayedBytes });
    return engine;
  }

  /** Whether more work of this class is accepted, given what waits for the disk (L9). */
  admits(admissionClass: AdmissionClass): boolean {
    const { bytesMax, answersMax } = (this.options.admission ?? ADMISSION_BOUNDS)[admissionClass];
    const answers = this.open.waiting.length + (this.appending?.waiting.length ?? 0);
    return this.open.writer.length < bytesMax && answers < answersMax;
  }

  /** Number of durable records. */
  get position(): number {
    return this.tail;
  }

  get isStopped(): boolean {
    return this.stopped !== undefined;
  }

  /**
   * Decides and applies a command now. `render` turns the reply into an answer while the state is
   * exactly as the command left it. The promise resolves once the command is durable.
   */
  execute<C extends Command, T>(
    request: Request<C>,
    render: (reply: Replies[C['type']], state: ReadonlyState, partition: PartitionReader) => T,
  ): Promise<T> {
    if (this.stopped !== undefined) return Promise.reject(this.stopped);
    const command = { ...request, now: this.options.clock() } as unknown as C;
    let reply: Replies[C['type']];
    this.partition.grantsLeases = !this.mustRest;
    try {
      reply = this.partition.execute(command, this.open.writer);
    } catch (broken) {
      return Promise.reject(this.stop(broken as Error));
    }
    const answer = this.whenDurable(() => render(reply, this.partition.state, this.partition));
    this.stageOutputs();
    this.scheduleAppend();
    this.setAlarm();
    return answer;
  }

  /**
   * Reads the state now. The promise resolves once everything that the view can have seen is
   * durable.
   */
  read<T>(view: (state: ReadonlyState, partition: PartitionReader) => T): Promise<T> {
    if (this.stopped !== undefined) return Promise.reject(this.stopped);
    return this.whenDurable(() => view(this.partition.state, this.partition));
  }

  /**
   * Like `read`, for a view that calls `shows` for each task and run that it shows, and shows
   * nothing else that can change. A refusal, which says that something is
   * not there, waits for everything.
   */
  readShown<T>(
    view: (state: ReadonlyState, partition: PartitionReader, shows: Shows) => T,
  ): Promise<T> {
    if (this.stopped !== undefined) return Promise.reject(this.stopped);
    return new Promise((resolve, reject) => {
      this.shown.begin(this.open, this.appending);
      try {
        const value = view(this.partition.state, this.partition, this.shown);
        const waiting = { release: () => resolve(value), drop: reject };
        this.waitForShown(this.views?.add(waiting) ?? waiting);
      } catch (refusal) {
        this.wait({ release: () => reject(refusal), drop: reject });
      }
    });
  }

  /** Waits for what is outstanding. The caller must send no more commands. */
  async close(): Promise<void> {
    this.isClosing = true;
    this.setAlarm();
    await this.keeper?.close();
    this.feed?.close();
    if (this.stopped !== undefined) return;
    if (this.appending === undefined && !this.isScheduled) return;
    await new Promise<void>((resolve) => {
      this.onQuiet = resolve;
    });
  }

  /** Ends this engine, because another server holds the partition. Nothing more is released. */
  stepDown(cause: Error): void {
    this.stop(cause);
  }

  private makeKeeper(): SnapshotKeeper | undefined {
    const { snapshots, notify } = this.options;
    if (snapshots === undefined) return undefined;
    const trim = (upTo: number) => this.trim(upTo);
    const onBroken = (cause: Error) => void this.stop(cause);
    return new SnapshotKeeper({ ...snapshots, trim, notify, onBroken });
  }

  private makeFeed(): CommittedFeed | undefined {
    const { feed, log } = this.options;
    if (feed === undefined) return undefined;
    this.partition.keepUnlessEndedBefore(0);
    const onAcknowledged = (watermark: Watermark) => this.acknowledged(watermark);
    return new CommittedFeed({ ...feed, log, tail: this.tail, onAcknowledged });
  }

  /**
   * The consumer has every record before the watermark, so it has every task that ended before the
   * last of them. A task that ended in the same millisecond may be in a later record. When the
   * consumer has everything, the bound is the current time: later events are not before now
   * (partition.forward-time).
   */
  private acknowledged({ position, at }: Watermark): void {
    const isAll = position === this.tail && this.open.isEmpty && this.appending === undefined;
    this.partition.keepUnlessEndedBefore(isAll ? this.options.clock() : at);
  }

  /** A log that fails here has failed for good. A fenced log reports that at the next append. */
  private async trim(upToSnapshot: number): Promise<void> {
    if (this.stopped !== undefined) return;
    const upTo = Math.min(upToSnapshot, this.feed?.watermark ?? upToSnapshot);
    try {
      await this.options.log.trim({ epoch: this.epoch, upTo });
      this.options.notify({ type: 'log_trimmed', upTo });
    } catch (cause) {
      this.stop(cause as Error);
    }
  }

  /** True while no new work may begin (engine.no-new-work). */
  private get mustRest(): boolean {
    return this.options.log.isFull || !this.admits('lease');
  }

  private setAlarm(): void {
    const isOver = this.isClosing || this.stopped !== undefined;
    const at = isOver || this.mustRest ? Number.POSITIVE_INFINITY : this.partition.nextTimerAt;
    this.alarm.set(at, this.options.clock());
  }

  /** A rejection is ignored: an engine that stopped has already reported it. */
  private advanceTime(): void {
    const seed = this.options.nonce() % 2 ** 32;
    this.execute<AdvanceTime, void>({ type: 'advance_time', seed }, () => undefined).catch(
      () => undefined,
    );
  }

  /** An error from `render` is an answer, too: it waits like any other. */
  private whenDurable<T>(render: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      try {
        const value = render();
        this.wait({ release: () => resolve(value), drop: reject });
      } catch (refusal) {
        this.wait({ release: () => reject(refusal), drop: reject });
      }
    });
  }

  /** Makes `waiting` wait for the newest event that exists. */
  private wait(waiting: Releasable): void {
    if (!this.open.isEmpty) this.open.waiting.push(waiting);
    else this.waitForAppending(waiting);
  }

  /** A commit that was sent before this was asked may be old: it proves nothing (engine.term). */
  private waitForAppending(waiting: Releasable): void {
    if (this.appending === undefined) return this.releaseWithinTerm(waiting);
    const late = { ...waiting, release: () => this.releaseWithinTerm(waiting) };
    this.appending.waiting.push(this.options.term === undefined ? waiting : late);
  }

  private waitForShown(waiting: Releasable): void {
    const { newest } = this.shown;
    if (newest === 'open') this.wait(waiting);
    else if (newest === 'appending') this.waitForAppending(waiting);
    else this.releaseWithinTerm(waiting);
  }

  private releaseWithinTerm(waiting: Releasable): void {
    if (this.options.term?.isOver() !== true) waiting.release();
    else this.options.term.whenRenewed(waiting.release, waiting.drop);
  }

  private stageOutputs(): void {
    const { outputs } = this.options;
    if (hasOutputs(this.partition.outputs)) {
      outputs.stage(this.partition.outputs, this.partition.state);
    }
    if (!this.open.isEmpty) return;
    // No event waits for an append, so no later batch would carry the staged outputs.
    const sealed = outputs.seal();
    if (sealed !== undefined) this.wait(sealed);
  }

  private scheduleAppend(): void {
    if (this.isScheduled || this.idle === undefined || this.open.isEmpty) return;
    this.isScheduled = true;
    this.options.atEndOfTurn(() => {
      this.isScheduled = false;
      if (this.stopped === undefined) this.appendNext();
    });
  }

  private appendNext(): void {
    if (this.idle === undefined || this.open.isEmpty) return;
    const batch = this.open;
    this.open = this.idle;
    this.idle = undefined;
    this.appending = batch;
    this.numberOpen(batch.number + 1);
    const sealed = this.options.outputs.seal();
    if (sealed !== undefined) batch.waiting.push(sealed);
    this.append(batch).then(
      () => this.committedBatch(batch),
      (cause: Error) => this.stop(cause),
    );
  }

  /** Everything that commands touch from now on waits for the open batch (engine.untouched). */
  private numberOpen(number: number): void {
    this.open.number = number % 2 ** 16;
    this.open.renames = this.partition.workerRenames;
    this.partition.batch = this.open.number;
  }

  private async append(batch: Batch): Promise<void> {
    const { writer } = batch;
    const logBatch: LogBatch = {
      epoch: this.epoch,
      expectedTail: this.tail,
      nonce: this.options.nonce(),
      recordCount: writer.recordCount,
      bytes: writer.bytes.subarray(0, writer.length),
    };
    for (let pauseMs = 10; ; pauseMs = Math.min(pauseMs * 2, UNKNOWN_PAUSE_MS_MAX)) {
      const outcome = await this.options.log.append(logBatch);
      if (outcome === 'ok' || outcome === 'duplicate') return;
      if (outcome === 'fenced') {
        throw new FencedError('another server took over this partition');
      }
      await this.pause(pauseMs);
    }
  }

  private pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.options.startTimer(delayMs, resolve);
    });
  }

  /**
   * The next append starts first, so that the disk does not wait while this batch's outputs are
   * written.
   */
  private committedBatch(batch: Batch): void {
    const { recordCount, bytes, length } = batch.writer;
    this.feed?.committed({ firstRecord: this.tail, recordCount, bytes: bytes.subarray(0, length) });
    this.tail += recordCount;
    this.keeper?.grew(this.tail, length);
    const waiting = batch.reset();
    this.appending = undefined;
    this.idle = batch;
    this.appendNext();
    for (const each of waiting) each.release();
    if (this.appending === undefined) this.onQuiet?.();
    this.setAlarm();
    // Any command grants the leases that were held back while there was too much to write.
    const hasRested = !this.partition.grantsLeases && !this.mustRest;
    if (hasRested && !this.isClosing) this.advanceTime();
  }

  /** Memory may be half-changed or ahead of the log, so it is no longer used (L5). */
  private stop(cause: Error): EngineStoppedError {
    // Only the first failure counts.
    if (this.stopped !== undefined) return this.stopped;
    const stopped = new EngineStoppedError('the engine lost its partition', { cause });
    this.stopped = stopped;
    const unsealed = this.options.outputs.seal();
    const waiting = [...(this.appending?.reset() ?? []), ...this.open.reset()];
    for (const each of waiting) each.drop(stopped);
    unsealed?.drop(stopped);
    this.setAlarm();
    this.onQuiet?.();
    void this.keeper?.close();
    this.feed?.close();
    this.options.onStopped(cause);
    return stopped;
  }
}
