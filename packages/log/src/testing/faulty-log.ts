import {
  type AppendOutcome,
  type BoundedLog,
  type LogBatch,
  type LogHold,
  type LogTrim,
  type OnBatch,
  overlappingAppend,
  type TrimOutcome,
} from '../contract/partition-log.ts';

/** Whether the batch of a faulty append is in the log when the fault occurs. */
export interface FaultTiming {
  readonly landed: boolean;
}

interface Gate extends FaultTiming {
  readonly opened: PromiseWithResolvers<void>;
}

/**
 * Wraps any log and makes its appends answer late, never, or `unknown`. For tests.
 *
 * A held append answers when `letGo` is called; without `letGo` it never does. `close` does not
 * wait for it, because a dying process does not either.
 */
export class FaultyLog implements BoundedLog {
  readonly #inner: BoundedLog;
  /** Undefined while appends pass freely. */
  #gate: Gate | undefined;
  #held = Promise.withResolvers<void>();
  readonly #unknownAnswers: FaultTiming[] = [];
  #appending = false;

  constructor(inner: BoundedLog) {
    this.#inner = inner;
  }

  /**
   * From here on appends stay pending until `letGo`: before they reach the log, or with `{ landed:
   * true }` after they landed, when only the answer is missing.
   */
  hold(timing: FaultTiming = { landed: false }): void {
    if (this.#gate !== undefined) throw new Error('appends are held already; call letGo first');
    this.#gate = { landed: timing.landed, opened: Promise.withResolvers<void>() };
  }

  /** Lets held and later appends pass. */
  letGo(): void {
    if (this.#gate === undefined) throw new Error('no append is held; call hold first');
    this.#gate.opened.resolve();
    this.#gate = undefined;
    this.#held = Promise.withResolvers<void>();
  }

  /** Resolves as soon as an append is held, so that a test need not guess how long that takes. */
  whenHeld(): Promise<void> {
    return this.#held.promise;
  }

  /** The next append without such an order answers `unknown`. Orders queue up. */
  nextAnswersUnknown(timing: FaultTiming): void {
    this.#unknownAnswers.push(timing);
  }

  get isFull(): boolean {
    return this.#inner.isFull;
  }

  acquire(): Promise<LogHold> {
    return this.#inner.acquire();
  }

  async append(batch: LogBatch): Promise<AppendOutcome> {
    if (this.#appending) throw overlappingAppend();
    this.#appending = true;
    try {
      return await this.#appendThroughGate(batch);
    } finally {
      this.#appending = false;
    }
  }

  read(from: number, onBatch: OnBatch): Promise<void> {
    return this.#inner.read(from, onBatch);
  }

  trim(trim: LogTrim): Promise<TrimOutcome> {
    return this.#inner.trim(trim);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  async #appendThroughGate(batch: LogBatch): Promise<AppendOutcome> {
    const gate = this.#gate;
    if (gate === undefined) return this.#appendWithFault(batch);

    if (gate.landed) {
      const outcome = await this.#appendWithFault(batch);
      this.#held.resolve();
      await gate.opened.promise;
      return outcome;
    }
    this.#held.resolve();
    await gate.opened.promise;
    return this.#appendWithFault(batch);
  }

  async #appendWithFault(batch: LogBatch): Promise<AppendOutcome> {
    const fault = this.#unknownAnswers.shift();
    if (fault === undefined) return this.#inner.append(batch);
    if (fault.landed) await this.#inner.append(batch);
    return 'unknown';
  }
}
