import { failureOf } from '../session/failures.ts';
import type { SessionPool } from '../session/session-pool.ts';
import type { LogStatements } from './log-statements.ts';

/** A table that could not be made is tried again after this time. */
const RETRY_MS = 5_000;

/** Makes the table of the next segment before it is needed. */
export class SegmentSupply {
  readonly #pool: SessionPool;
  readonly #statements: LogStatements;
  /** The newest segment whose table is known to exist beyond the one being written. */
  #ready = -1;
  #making: Promise<void> | undefined;
  #retryAt = 0;

  constructor(pool: SessionPool, statements: LogStatements) {
    this.#pool = pool;
    this.#statements = statements;
  }

  has(segment: number): boolean {
    return this.#ready === segment;
  }

  /** Begins to make the table in the background. If that fails, the current segment grows. */
  prepare(segment: number): void {
    if (this.#ready === segment || this.#making !== undefined) return;
    if (performance.now() < this.#retryAt) return;
    this.#making = this.#make(segment).finally(() => {
      this.#making = undefined;
    });
  }

  /** Resolves when nothing is being made. */
  async settled(): Promise<void> {
    await this.#making;
  }

  async #make(segment: number): Promise<void> {
    try {
      await this.#pool.run((session) => session.queryAll(this.#statements.create(segment)));
      this.#ready = segment;
    } catch (cause) {
      // Whatever is wrong, appends to the current segment find out whether they can go on.
      this.#retryAt = performance.now() + (failureOf(cause) === 'other' ? RETRY_MS : 0);
    }
  }
}
