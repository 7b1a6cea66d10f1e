/**
 * Statements that block their thread until they are answered, for a thread with which nobody waits.
 * Another thread has the connections.
 */
import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  Worker,
} from 'node:worker_threads';
import type { StoreAddress } from './store-address.ts';

export interface SyncQuestion {
  readonly id: number;
  readonly text: string;
  readonly values: readonly unknown[];
}

export type SyncAnswer =
  | { readonly id: number; readonly rows: readonly object[]; readonly count: number }
  | { readonly id: number; readonly code: string | undefined; readonly why: string };

export interface SyncThreadData {
  readonly address: StoreAddress;
  readonly port: MessagePort;
  /** Counts the answers. */
  readonly answered: Int32Array;
}

/** What the database, or the way to it, had against a statement. */
export class SyncQueryError extends Error {
  override readonly name = 'SyncQueryError';
  /** The code of the database; undefined when it could not be asked. */
  readonly code: string | undefined;

  constructor(message: string, code?: string) {
    super(message);
    this.code = code;
  }
}

/** Longer than a failover should take. The caller tries again. */
const ANSWER_MS_MAX = 30_000;

export class SyncSession {
  readonly #worker: Worker;
  readonly #port: MessagePort;
  readonly #answered: Int32Array;
  #asked = 0;
  #isClosed = false;

  constructor(address: StoreAddress) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#answered = new Int32Array(new SharedArrayBuffer(4));
    const workerData: SyncThreadData = { address, port: port2, answered: this.#answered };
    const thread = new URL('./sync-session-thread.ts', import.meta.url);
    this.#worker = new Worker(thread, { workerData, transferList: [port2] });
    this.#worker.unref();
  }

  query<Row extends object>(
    text: string,
    values: readonly unknown[] = [],
  ): { readonly rows: readonly Row[]; readonly count: number } {
    // Nobody would answer.
    if (this.#isClosed) throw new SyncQueryError('the connection is closed');
    this.#asked += 1;
    this.#port.postMessage({ id: this.#asked, text, values } satisfies SyncQuestion);
    const answer = this.#answerTo(this.#asked);
    if ('why' in answer) throw new SyncQueryError(answer.why, answer.code);
    return { rows: answer.rows as readonly Row[], count: answer.count };
  }

  close(): void {
    this.#isClosed = true;
    this.#port.close();
  }

  #answerTo(id: number): SyncAnswer {
    const until = performance.now() + ANSWER_MS_MAX;
    for (;;) {
      const seen = Atomics.load(this.#answered, 0);
      const received = receiveMessageOnPort(this.#port)?.message as SyncAnswer | undefined;
      // An answer that came too late for its caller is of no use to the next one.
      if (received?.id === id) return received;
      if (received !== undefined) continue;
      const leftMs = until - performance.now();
      if (leftMs <= 0) throw new SyncQueryError('the database does not answer');
      Atomics.wait(this.#answered, 0, seen, leftMs);
    }
  }
}
