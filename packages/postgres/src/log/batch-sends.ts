import type { AppendOutcome } from '@sluice/log';
import { failureOf } from '../session/failures.ts';
import type { Session } from '../session/session.ts';
import type { SessionPool } from '../session/session-pool.ts';

/**
 * A batch that waits for a stuck replica is sent twice at the most: each copy occupies a process
 * of the database until the replica is back.
 */
const SENDS_MAX = 2;

const ALIVE =
  'SELECT application_name AS name FROM pg_stat_activity WHERE application_name = ANY($1)';

/** One copy of the batch that is under way. */
interface Send {
  /** Undefined while it waits for a connection. */
  session: Session | undefined;
  readonly outcome: Promise<AppendOutcome>;
}

/** What copies need of the connections. */
export type SendPool = Pick<SessionPool, 'take' | 'give' | 'run'>;

export interface BatchSendsOptions {
  readonly pool: SendPool;
  /** Sends the batch; resolves with what the database says about it. */
  readonly send: (session: Session) => Promise<AppendOutcome>;
  /** After this time without an answer the outcome is unknown. */
  readonly silenceMs: number;
}

/**
 * The copies of one batch, until one of them has a definite answer. A copy is never cancelled: a
 * cancelled commit is visible before the replica has it.
 */
export class BatchSends {
  readonly #pool: SendPool;
  readonly #send: (session: Session) => Promise<AppendOutcome>;
  readonly #silenceMs: number;
  readonly #sends = new Set<Send>();

  constructor({ pool, send, silenceMs }: BatchSendsOptions) {
    this.#pool = pool;
    this.#send = send;
    this.#silenceMs = silenceMs;
  }

  /** Sends another copy if there is reason to, and waits for the answer of any of them. */
  async next(): Promise<AppendOutcome> {
    const silence = Promise.withResolvers<AppendOutcome>();
    const timer = setTimeout(() => silence.resolve('unknown'), this.#silenceMs);
    try {
      if (this.#sends.size === SENDS_MAX) await Promise.race([this.#giveUpDead(), silence.promise]);
      if (this.#sends.size < SENDS_MAX) this.#start();
      const outcomes = [...this.#sends].map(({ outcome }) => outcome);
      return await Promise.race([...outcomes, silence.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Lets go of copies that are under way: their outcome is of no interest any more. */
  giveUp(): void {
    for (const send of [...this.#sends]) this.#drop(send);
  }

  #start(): void {
    const { promise, resolve, reject } = Promise.withResolvers<AppendOutcome>();
    const send: Send = { session: undefined, outcome: promise };
    // Another copy may have answered first.
    promise.catch(() => {});
    this.#sends.add(send);
    this.#carryOut(send).then(resolve, reject);
  }

  async #carryOut(send: Send): Promise<AppendOutcome> {
    try {
      const session = await this.#pool.take();
      send.session = session;
      // It was given up while it waited.
      if (!this.#sends.has(send)) {
        this.#pool.give(session);
        return 'unknown';
      }
      const outcome = await this.#send(session);
      this.#pool.give(session);
      return outcome;
    } catch (cause) {
      if (send.session !== undefined) this.#pool.give(send.session);
      if (failureOf(cause) === 'unreachable') return 'unknown';
      throw cause;
    } finally {
      this.#sends.delete(send);
    }
  }

  #drop(send: Send): void {
    this.#sends.delete(send);
    if (send.session !== undefined) this.#pool.give(send.session, { isBusy: true });
  }

  /** Gives up copies whose connection the database no longer knows: they will never answer. */
  async #giveUpDead(): Promise<void> {
    // A copy whose connection opens meanwhile is not asked about, so nothing is known about it.
    const asked = [...this.#sends].filter(({ session }) => session !== undefined);
    const names = asked.map(({ session }) => session?.name);
    try {
      const { rows } = await this.#pool.run((session) =>
        session.query<{ name: string }>(ALIVE, [names]),
      );
      const alive = new Set(rows.map(({ name }) => name));
      for (const send of asked) {
        const isDead = send.session !== undefined && !alive.has(send.session.name);
        // One that was answered meanwhile has given its connection back.
        if (isDead && this.#sends.has(send)) this.#drop(send);
      }
    } catch (cause) {
      // Nobody can say whether they are alive, so they are waited for.
      if (failureOf(cause) !== 'unreachable') throw cause;
    }
  }
}
