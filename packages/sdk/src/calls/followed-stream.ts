import { BACKOFF_DEFAULT, Backoff } from '../base/backoff.ts';
import type {
  Cancel,
  ChancePort,
  HttpAnswer,
  SendProblem,
  StreamPort,
  TimePort,
} from '../base/ports.ts';
import { EventStreamParser, type StreamEvent } from './event-stream.ts';
import { isHopeless, isPassing, refusalOf, retryAfterMs } from './http-answers.ts';
import { errorOf, noAnswer, SluiceError } from './sluice-error.ts';
import { traced } from './traced.ts';

/** Items that arrive over time. Leaving the loop closes the connection. */
export interface Followed<T> extends AsyncIterable<T, void, undefined> {
  /** Resolves when the server has answered: what happens from then on is not missed. */
  readonly opened: Promise<void>;
  /** Ends the loop. */
  close(): void;
}

/** The server sends something every five seconds. */
const SILENCE_MS = 15_000;

/** Items that wait for a slow reader. Beyond it, the rest stays at the server (L9). */
const BUFFERED_MAX = 10_000;

/** An id of no log: the server answers with a gap, and with every change that it still has. */
const UNKNOWN_PLACE = '0';

interface FollowPorts extends StreamPort, TimePort, ChancePort {}

export interface FollowOptions<T> {
  readonly ports: FollowPorts;
  readonly addresses: readonly string[];
  readonly path: string;
  /** How long the first connection is tried. A lost one is tried without end. */
  readonly giveUpAfterMs: number;
  /** Whether the stream has ids, so that a new connection continues after the last one. */
  readonly hasIds: boolean;
  /** The id to continue after; without it the stream starts now. */
  readonly after?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called before each connection. */
  readonly begin?: () => void;
  /** The items of an event, or `end` when there will be no more. */
  readonly read: (event: StreamEvent) => readonly T[] | 'end';
  /** Registers a function that is called when the client is closed. */
  readonly onClose: (fail: (cause: Error) => void) => Cancel;
}

/**
 * Follows a stream of events through lost connections and restarts of the server.
 *
 * - Items are in the order of the server. After a lost connection some may come again.
 * - The stream ends only by the server's word, by the reader, or with a refusal.
 */
export class FollowedStream<T> implements Followed<T> {
  readonly opened: Promise<void>;
  private readonly options: FollowOptions<T>;
  private readonly backoff: Backoff;
  private readonly items: T[] = [];
  /** Readers that wait for an item. */
  private readonly takers: Taker<T>[] = [];
  /** How the stream ended; undefined while it goes on. */
  private end: { readonly cause?: unknown } | undefined;
  private settleOpened: { resolve(): void; reject(cause: unknown): void };
  private hasOpened = false;
  /** The connection was closed because too many items wait. */
  private isFull = false;
  private lastId: string | undefined;
  private address = 0;
  private readonly giveUpAt: number;
  /** Closes the connection; undefined while there is none. */
  private closeConnection: Cancel | undefined;
  private cancelRetry: Cancel = () => undefined;
  private cancelSilence: Cancel = () => undefined;
  private readonly cleanups: Cancel[] = [];

  constructor(options: FollowOptions<T>) {
    this.options = options;
    const { ports, addresses, giveUpAfterMs, signal } = options;
    this.backoff = new Backoff(ports, BACKOFF_DEFAULT, addresses.length);
    this.giveUpAt = ports.now() + giveUpAfterMs;
    this.lastId = options.after;
    const { promise, resolve, reject } = promiseParts();
    this.opened = promise;
    this.settleOpened = { resolve, reject };
    this.cleanups.push(options.onClose((cause) => this.finish({ cause })));
    const aborted = (): void => this.finish({ cause: signal?.reason });
    signal?.addEventListener('abort', aborted);
    this.cleanups.push(() => signal?.removeEventListener('abort', aborted));
    if (signal?.aborted) aborted();
    if (this.end === undefined) this.connect();
  }

  close(): void {
    this.finish({});
  }

  [Symbol.asyncIterator](): AsyncIterator<T, void, undefined> {
    return {
      next: () => this.take(),
      return: async () => {
        this.close();
        return { done: true, value: undefined };
      },
    };
  }

  private take(): Promise<IteratorResult<T, void>> {
    const item = this.items.shift();
    if (item !== undefined) return Promise.resolve({ done: false, value: item });
    const coming = new Promise<IteratorResult<T, void>>((resolve, reject) => {
      const taker = { resolve, reject };
      if (this.end !== undefined) tell(taker, this.end);
      else {
        this.takers.push(taker);
        this.resume();
      }
    });
    return traced(coming);
  }

  /** A slow reader has caught up, so the connection is opened again. */
  private resume(): void {
    if (!this.isFull) return;
    this.isFull = false;
    this.connect();
  }

  private connect(): void {
    const { ports, path, hasIds, begin } = this.options;
    const parser = new EventStreamParser((event) => {
      // An earlier event in the same chunk may have closed the connection. Then this one comes
      // again on the next connection.
      if (!isOurs()) return;
      if (hasIds) this.lastId = event.id ?? this.lastId;
      this.hear(event);
    });
    begin?.();
    const isOurs = (): boolean => this.closeConnection === close;
    const request = { address: this.address, method: 'GET', path } as const;
    const lastEventId = this.lastId ?? (this.hasOpened && hasIds ? UNKNOWN_PLACE : undefined);
    const close = ports.openStream(
      lastEventId === undefined ? request : { ...request, lastEventId },
      {
        opened: () => this.wasOpened(),
        bytes: (chunk) => {
          if (!isOurs()) return;
          this.watchSilence();
          const isUsable = parser.push(chunk);
          if (!isOurs()) return;
          if (hasIds) this.lastId = parser.lastId ?? this.lastId;
          if (!isUsable) this.reconnect(0);
        },
        ended: (refusal, problem) => {
          if (isOurs()) this.ended(refusal, problem);
        },
      },
    );
    this.closeConnection = close;
    this.watchSilence();
  }

  private wasOpened(): void {
    this.hasOpened = true;
    this.settleOpened.resolve();
  }

  private hear(event: StreamEvent): void {
    this.backoff.reset();
    if (event.name === 'ping') return;
    if (event.name === 'drain') {
      this.reconnect(0);
      return;
    }
    let items: readonly T[] | 'end';
    try {
      items = this.options.read(event);
    } catch {
      this.finish({
        cause: new SluiceError('no_answer', 'the answer is not from a Sluice server'),
      });
      return;
    }
    if (items === 'end') {
      this.finish({});
      return;
    }
    for (const item of items) this.give(item);
    if (this.items.length < BUFFERED_MAX) return;
    this.disconnect();
    this.isFull = true;
  }

  private give(item: T): void {
    const taker = this.takers.shift();
    if (taker === undefined) this.items.push(item);
    else taker.resolve({ done: false, value: item });
  }

  private ended(answer: HttpAnswer | undefined, problem: SendProblem | undefined): void {
    const { addresses } = this.options;
    if (isHopeless(problem, addresses.length)) {
      this.finish({ cause: noAnswer(addresses, problem) });
      return;
    }
    const refusal = answer === undefined ? undefined : refusalOf(answer);
    if (refusal !== undefined && !isPassing(refusal)) this.finish({ cause: errorOf(refusal) });
    else this.reconnect(retryAfterMs(answer), problem);
  }

  private reconnect(askedMs: number, problem?: SendProblem): void {
    const { ports, addresses } = this.options;
    this.disconnect();
    this.address = (this.address + 1) % addresses.length;
    const pauseMs = this.backoff.next(askedMs);
    if (!this.hasOpened && ports.now() + pauseMs >= this.giveUpAt) {
      this.finish({ cause: noAnswer(addresses, problem) });
      return;
    }
    this.cancelRetry = ports.startTimer(pauseMs, () => this.connect());
  }

  private disconnect(): void {
    this.closeConnection?.();
    this.closeConnection = undefined;
    this.cancelRetry();
    this.cancelSilence();
  }

  private watchSilence(): void {
    this.cancelSilence();
    this.cancelSilence = this.options.ports.startTimer(SILENCE_MS, () => this.reconnect(0));
  }

  /** Items that arrived before are still handed out. */
  private finish(end: { readonly cause?: unknown }): void {
    if (this.end !== undefined) return;
    this.end = end;
    this.disconnect();
    for (const cleanup of this.cleanups) cleanup();
    if ('cause' in end) this.settleOpened.reject(end.cause);
    else this.settleOpened.resolve();
    for (const taker of this.takers.splice(0)) tell(taker, end);
  }
}

interface Taker<T> {
  resolve(result: IteratorResult<T, void>): void;
  reject(cause: unknown): void;
}

function tell<T>(taker: Taker<T>, end: { readonly cause?: unknown }): void {
  if ('cause' in end) taker.reject(end.cause);
  else taker.resolve({ done: true, value: undefined });
}

/** A reader that does not look at `opened` gets the error from the loop. */
function promiseParts() {
  let resolve: () => void = () => undefined;
  let reject: (cause: unknown) => void = () => undefined;
  const promise = new Promise<void>((done, failed) => {
    resolve = done;
    reject = failed;
  });
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
