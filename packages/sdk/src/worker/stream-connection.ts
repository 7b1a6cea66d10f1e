import type { Backoff } from '../base/backoff.ts';
import type { Cancel, HttpAnswer, SendProblem, StreamPort, TimePort } from '../base/ports.ts';
import { EventStreamParser, type StreamEvent } from '../calls/event-stream.ts';
import { type Refusal, refusalOf, retryAfterMs } from '../calls/http-answers.ts';

export interface StreamTimes {
  /** A stream without a byte for this long is considered dead, unless the server says else. */
  readonly silenceMs: number;
  /** A stream that was useful for this long resets the backoff. */
  readonly stableMs: number;
}

export interface StreamConnectionOptions {
  readonly ports: StreamPort & TimePort;
  readonly addresses: number;
  readonly backoff: Backoff;
  readonly times: StreamTimes;
  /** The body of the request, computed just before it is sent. */
  readonly body: () => string;
  readonly onEvent: (event: StreamEvent) => void;
  /** The server answered with something other than a stream. Return false to stop trying. */
  readonly onRefused: (refusal: Refusal) => boolean;
  /** The stream is lost, and will be opened again after this time. */
  readonly onBroken: (why: string, retryInMs: number) => void;
}

/** One late ping, or two, may be the network's. */
const PINGS_MISSED = 3;

/**
 * Keeps one event stream open: through silence, broken connections and servers that stop.
 *
 * worker-stream.one-open: At most one stream is open, and only its bytes count. Bytes of an older
 *   stream are ignored: the body of the next request already said that they did not arrive.
 * - A lost stream is opened again after a pause, at the next address.
 */
export class StreamConnection {
  private readonly options: StreamConnectionOptions;
  /** Closes the open stream; undefined while there is none. */
  private closeStream: Cancel | undefined;
  private cancelRetry: Cancel | undefined;
  private cancelSilence: Cancel | undefined;
  private lastBytesAt = 0;
  private silenceMs: number;
  /** When the open stream first became useful; `undefined` before that. */
  private usefulSince: number | undefined;
  /** Index of the address of the stream, or of the next one. */
  address = 0;

  constructor(options: StreamConnectionOptions) {
    this.options = options;
    this.silenceMs = options.times.silenceMs;
  }

  open(): void {
    const { ports, body, times } = this.options;
    this.usefulSince = undefined;
    this.lastBytesAt = ports.now();
    this.silenceMs = times.silenceMs;
    const parser = new EventStreamParser((event) => {
      // An earlier event in the same chunk may have closed the stream.
      if (this.closeStream === close) this.options.onEvent(event);
    });
    const request = { address: this.address, method: 'POST', path: '/v1/worker-sessions' } as const;
    const close = ports.openStream(
      { ...request, body: body() },
      {
        bytes: (chunk) => {
          if (this.closeStream !== close) return;
          this.lastBytesAt = ports.now();
          const isUsable = parser.push(chunk);
          if (isUsable || this.closeStream !== close) return;
          this.reconnect('an event on the stream is too large');
        },
        ended: (refusal, problem) => {
          if (this.closeStream === close) this.ended(refusal, problem);
        },
      },
    );
    this.closeStream = close;
    this.watchSilence();
  }

  /** The open stream is dead after a silence of three pings. */
  expectPings(pingMs: number): void {
    this.silenceMs = PINGS_MISSED * pingMs;
    this.cancelSilence?.();
    this.watchSilence();
  }

  /** The server sent an event that only a working stream delivers. */
  markUseful(): void {
    this.usefulSince ??= this.options.ports.now();
  }

  /** Closes the stream and opens another one elsewhere, after a pause. */
  reconnect(why: string, askedMs = 0): void {
    const { ports, backoff, times, addresses } = this.options;
    const { usefulSince } = this;
    this.close();
    if (usefulSince !== undefined && ports.now() - usefulSince >= times.stableMs) backoff.reset();
    this.address = (this.address + 1) % addresses;
    const delayMs = backoff.next(askedMs);
    this.cancelRetry = ports.startTimer(delayMs, () => this.open());
    this.options.onBroken(why, delayMs);
  }

  close(): void {
    this.closeStream?.();
    this.closeStream = undefined;
    this.cancelRetry?.();
    this.cancelSilence?.();
  }

  private ended(answer: HttpAnswer | undefined, problem: SendProblem | undefined): void {
    if (answer === undefined) {
      this.reconnect(problem?.why ?? 'the stream broke');
      return;
    }
    const refusal = refusalOf(answer);
    this.close();
    if (this.options.onRefused(refusal)) this.reconnect(refusal.message, retryAfterMs(answer));
  }

  private watchSilence(): void {
    const { ports } = this.options;
    const delayMs = Math.max(1, this.lastBytesAt + this.silenceMs - ports.now());
    this.cancelSilence = ports.startTimer(delayMs, () => {
      if (ports.now() - this.lastBytesAt < this.silenceMs) this.watchSilence();
      else this.reconnect('the stream was silent for too long');
    });
  }
}
