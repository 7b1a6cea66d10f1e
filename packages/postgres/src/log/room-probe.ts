import type { SessionPool } from '../session/session-pool.ts';

/** Knows whether the database has room, and finds out by itself when it has room again. */
export class RoomProbe {
  readonly #pool: SessionPool;
  readonly #probeMs: number;
  #isFull = false;
  /** Set while the disk is full. */
  #timer: NodeJS.Timeout | undefined;

  constructor(pool: SessionPool, probeMs: number) {
    this.#pool = pool;
    this.#probeMs = probeMs;
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  /** An append found no room; `probe` would write as much. */
  foundFull(probe: readonly string[]): void {
    this.#isFull = true;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#try(probe).catch(() => this.foundFull(probe));
    }, this.#probeMs).unref();
  }

  foundRoom(): void {
    this.#isFull = false;
    this.close();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #try(probe: readonly string[]): Promise<void> {
    const session = await this.#pool.take();
    try {
      await session.queryAll(probe);
      this.foundRoom();
      this.#pool.give(session);
    } catch (cause) {
      // It may be left inside a transaction that failed.
      this.#pool.give(session, { isBusy: true });
      throw cause;
    }
  }
}
