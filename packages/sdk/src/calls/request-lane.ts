import type { Backoff } from '../base/backoff.ts';
import type {
  Cancel,
  HttpAnswer,
  HttpRequest,
  RequestPort,
  SendProblem,
  TimePort,
} from '../base/ports.ts';
import { retryAfterMs } from './http-answers.ts';

/** The next request, made just before it is sent. */
export interface LaneRequest extends Omit<HttpRequest, 'address'> {
  /** An answer that takes longer no longer counts. */
  readonly answerWithinMs: number;
  /**
   * Called once, with undefined when no complete answer came. False means that the server did not
   * get the request or could not accept it: the lane pauses before it sends anything else.
   */
  settled(answer: HttpAnswer | undefined, problem?: SendProblem): boolean;
}

export interface LaneOptions {
  readonly ports: RequestPort & TimePort;
  readonly addresses: number;
  readonly backoff: Backoff;
  readonly inFlightMax: number;
  /** Returns the next request, or undefined when there is none. */
  readonly next: () => LaneRequest | undefined;
}

/**
 * Sends requests, batched without a timer.
 *
 * requests.few-in-flight: A request is sent at the end of the turn while fewer than `inFlightMax`
 *   are in flight. What gathers meanwhile is sent when one returns.
 * requests.settled-once: Every request that is not recalled is settled once, even when its answer
 *   never comes or comes twice.
 * requests.failure-pause: After a failure nothing is sent until the pause is over or another
 *   request was served. The next request goes to the next address, unless the server itself asked
 *   for the pause.
 */
export class RequestLane {
  private readonly options: LaneOptions;
  private readonly inFlight = new Set<Cancel>();
  /** Set while the lane pauses after a failure. */
  private pause: Cancel | undefined;
  private pausedUntil = 0;
  private isPauseAsked = false;
  /** A request is being made, or its result is being reported. */
  private isBusy = false;
  /** A send is scheduled for the end of this turn. */
  private isGathering = false;
  private isClosed = false;
  /** Index of the address for the next request. */
  address = 0;

  constructor(options: LaneOptions) {
    this.options = options;
  }

  get isIdle(): boolean {
    return this.inFlight.size === 0;
  }

  /** Sends pending requests at the end of this turn. */
  gather(): void {
    const isFull = this.inFlight.size >= this.options.inFlightMax;
    if (this.isGathering || isFull || this.pause !== undefined) return;
    this.isGathering = true;
    this.options.ports.atEndOfTurn(() => {
      this.isGathering = false;
      this.pump();
    });
  }

  /** Sends as many pending requests as possible. */
  pump(): void {
    if (this.isBusy || this.isClosed) return;
    // Making a request may change what is pending.
    this.isBusy = true;
    while (this.pause === undefined && this.inFlight.size < this.options.inFlightMax) {
      const request = this.options.next();
      if (request === undefined) break;
      this.send(request);
    }
    this.isBusy = false;
  }

  /** The server is known to be reachable, so the pause ends, unless the server asked for it. */
  wake(): void {
    if (this.isPauseAsked) return;
    this.pause?.();
    this.pause = undefined;
    this.pump();
  }

  /** Cancels everything in flight; nothing is sent afterwards. */
  close(): void {
    this.isClosed = true;
    this.pause?.();
    this.recall();
  }

  /** Cancels everything in flight, as if it had never been sent. */
  recall(): void {
    for (const cancel of this.inFlight) cancel();
    this.inFlight.clear();
  }

  private send(request: LaneRequest): void {
    const { ports } = this.options;
    const { address } = this;
    const { answerWithinMs, settled, ...http } = request;
    let isOpen = true;
    const settle = (answer: HttpAnswer | undefined, problem?: SendProblem): void => {
      if (!isOpen) return;
      isOpen = false;
      this.inFlight.delete(forget);
      cancelTimer();
      // The callback may want to send at once, but a pause must be set first.
      this.isBusy = true;
      const isServed = settled.call(request, answer, problem);
      this.isBusy = false;
      if (isServed) this.served();
      else this.failed(address, answer);
    };
    const forget = (): void => {
      isOpen = false;
      cancelTimer();
      cancelRequest();
    };
    this.inFlight.add(forget);
    const cancelTimer = ports.startTimer(answerWithinMs, () => {
      cancelRequest();
      settle(undefined);
    });
    const cancelRequest = ports.send({ ...http, address }, settle);
  }

  private served(): void {
    this.options.backoff.reset();
    this.wake();
  }

  private failed(address: number, answer: HttpAnswer | undefined): void {
    const { ports, addresses, backoff } = this.options;
    if (this.isClosed) return;
    if (answer === undefined && address === this.address) {
      this.address = (address + 1) % addresses;
    }
    const askedMs = retryAfterMs(answer);
    const now = ports.now();
    // Two requests that were in flight together also fail together: that counts as one failure.
    if (this.pause !== undefined && now + askedMs <= this.pausedUntil) return;
    const delayMs = backoff.next(askedMs);
    this.pause?.();
    this.isPauseAsked = askedMs > 0;
    this.pausedUntil = now + delayMs;
    this.pause = ports.startTimer(delayMs, () => {
      this.isPauseAsked = false;
      this.pause = undefined;
      this.pump();
    });
  }
}
