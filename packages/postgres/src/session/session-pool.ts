import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { failureOf } from './failures.ts';
import { Session } from './session.ts';
import type { StoreAddress } from './store-address.ts';

/** A server that restarts must not be met by all its clients at once. */
const PAUSE_MS_MIN = 50;
const PAUSE_MS_MAX = 2_000;

/** How long `run` tries to reach the server before it gives up: as long as a failover may take. */
const RETRY_MS_MAX = 30_000;

export interface SessionPoolOptions {
  readonly address: StoreAddress;
  /** Maximum number of open connections; further callers wait. */
  readonly sessionsMax?: number;
}

/** The connections of one server to its store. They are opened one after the other. */
export class SessionPool {
  readonly address: StoreAddress;
  readonly #sessionsMax: number;
  readonly #name = `sluice ${randomUUID().slice(0, 8)}`;
  readonly #idle: Session[] = [];
  readonly #taken = new Set<Session>();
  readonly #waiting: PromiseWithResolvers<void>[] = [];
  /** The latest attempt to connect; the next one waits for it. */
  #connecting: Promise<unknown> = Promise.resolve();
  /** Connections that are open or being opened. */
  #count = 0;
  #opened = 0;
  /** Attempts to connect that failed since the last that worked. */
  #failures = 0;
  #isClosed = false;

  constructor({ address, sessionsMax = 10 }: SessionPoolOptions) {
    this.address = address;
    this.#sessionsMax = sessionsMax;
  }

  /** A connection for the caller alone, until it is given back. */
  async take(): Promise<Session> {
    for (;;) {
      this.#refuseIfClosed();
      const idle = this.#idle.pop();
      if (idle !== undefined && !idle.isBroken) return this.#lend(idle);
      if (idle !== undefined) this.#count -= 1;
      else if (this.#count < this.#sessionsMax) return this.#open();
      else await this.#whenFree();
    }
  }

  /** Takes a connection back. One that is broken, or still busy, is given up. */
  give(session: Session, { isBusy = false } = {}): void {
    if (!this.#taken.delete(session)) return;
    if (isBusy || session.isBroken || this.#isClosed) {
      this.#count -= 1;
      // Nobody waits for the goodbye, and a broken connection has none.
      session.end().catch(() => {});
    } else {
      this.#idle.push(session);
    }
    this.#waiting.shift()?.resolve();
  }

  /** Runs `use` with a connection, and again with another one while the server is unreachable. */
  async run<T>(use: (session: Session) => Promise<T>, retryMs = RETRY_MS_MAX): Promise<T> {
    const until = performance.now() + retryMs;
    for (;;) {
      try {
        return await this.#runOnce(use);
      } catch (cause) {
        if (failureOf(cause) !== 'unreachable' || performance.now() > until) throw cause;
        this.#refuseIfClosed();
      }
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { resolve } of this.#waiting.splice(0)) resolve();
    const sessions = [...this.#idle.splice(0), ...this.#taken];
    this.#taken.clear();
    await Promise.all(sessions.map((session) => session.end()));
  }

  async #runOnce<T>(use: (session: Session) => Promise<T>): Promise<T> {
    const session = await this.take();
    try {
      return await use(session);
    } finally {
      this.give(session);
    }
  }

  async #open(): Promise<Session> {
    this.#count += 1;
    const opening = this.#connecting.catch(() => {}).then(() => this.#connect());
    this.#connecting = opening;
    try {
      return this.#lend(await opening);
    } catch (cause) {
      this.#count -= 1;
      this.#waiting.shift()?.resolve();
      throw cause;
    }
  }

  async #connect(): Promise<Session> {
    if (this.#failures > 0) {
      const pauseMs = Math.min(PAUSE_MS_MIN * 2 ** this.#failures, PAUSE_MS_MAX);
      await sleep(pauseMs * Math.random());
    }
    this.#refuseIfClosed();
    this.#opened += 1;
    try {
      const session = await Session.open(this.address, `${this.#name} ${this.#opened}`);
      this.#failures = 0;
      if (this.#isClosed) await session.end();
      this.#refuseIfClosed();
      return session;
    } catch (cause) {
      this.#failures += 1;
      throw cause;
    }
  }

  #lend(session: Session): Session {
    this.#taken.add(session);
    return session;
  }

  #whenFree(): Promise<void> {
    const waiting = Promise.withResolvers<void>();
    this.#waiting.push(waiting);
    return waiting.promise;
  }

  #refuseIfClosed(): void {
    if (this.#isClosed) throw new Error(`the connections to ${this.address.shown} are closed`);
  }
}
