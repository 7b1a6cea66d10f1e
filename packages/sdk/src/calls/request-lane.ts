import type { Backoff } from '../base/backoff.ts';
import type { Cancel, HttpAnswer, HttpRequest, RequestPort, TimePort } from '../base/ports.ts';
import { retryAfterMs } from './http-answers.ts';

/** The next request, made when it can leave. */
export interface LaneRequest extends Omit<HttpRequest, 'address'> {
  /** An answer that takes longer does not count any more. */
  readonly answerWithinMs: number;
  /**
   * Called once, with nothing when no whole answer came. False says that the server did not get or
   * could not take it: the lane pauses before anything else leaves.
   */
  settled(answer: HttpAnswer | undefined): boolean;
}

export interface LaneOptions {
  readonly ports: RequestPort & TimePort;
  readonly addresses: number;
  readonly backoff: Backoff;
  readonly inFlightMax: number;
  /** What gathered, or nothing. */
  readonly next: () => LaneRequest | undefined;
}

/**
 * Lets requests leave, batched without a timer.
 *
 * Y1 A request leaves at the end of the turn while fewer than `inFlightMax` are in flight; what
 *    gathers meanwhile leaves when one returns.
 * Y2 Every request that is not recalled is settled once, also when its answer never comes or comes
 *    twice.
 * Y3 After a failure nothing leaves until the pause is over or another request was served; the
 *    next request goes to the next address unless the server itself asked for the pause.
 */
export class RequestLane {
  private readonly options: LaneOptions;
  private readonly inFlight = new Set<Cancel>();
  /** Set while the lane pauses after a failure. */
  private pause: Cancel | undefined;
  private pausedUntil = 0;
  private isPauseAsked = false;
  /** A request is being made, or its end is being told. */
  private isBusy = false;
  /** The end of this turn will let something leave. */
  private isGathering = false;
  private isClosed = false;
  /** Where the next request goes. */
  address = 0;

  constructor(options: LaneOptions) {
    this.options = options;
  }

  get isIdle(): boolean {
    return this.inFlight.size === 0;
  }

  /** Lets leave what there is to say when this turn ends. */
  gather(): void {
    const isFull = this.inFlight.size >= this.options.inFlightMax;
    if (this.isGathering || isFull || this.pause !== undefined) return;
    this.isGathering = true;
    this.options.ports.atEndOfTurn(() => {
      this.isGathering = false;
      this.pump();
    });
  }

  /** Lets leave what can leave. */
  pump(): void {
    if (this.isBusy || this.isClosed) return;
    // A request that is being made may change what is there to say.
    this.isBusy = true;
    while (this.pause === undefined && this.inFlight.size < this.options.inFlightMax) {
      const request = this.options.next();
      if (request === undefined) break;
      this.send(request);
    }
    this.isBusy = false;
  }

  /** The server is known to be there: nothing waits any longer, unless it asked for that itself. */
  wake(): void {
    if (this.isPauseAsked) return;
    this.pause?.();
    this.pause = undefined;
    this.pump();
  }

  /** Forgets everything that is in flight; nothing leaves any more. */
  close(): void {
    this.isClosed = true;
    this.pause?.();
    this.recall();
  }

  /** Takes back what is in flight, as if it had never been sent. */
  recall(): void {
    for (const cancel of this.inFlight) cancel();
    this.inFlight.clear();
  }

  private send(request: LaneRequest): void {
    const { ports } = this.options;
    const { address } = this;
    const { answerWithinMs, settled, ...http } = request;
    let isOpen = true;
    const settle = (answer: HttpAnswer | undefined): void => {
      if (!isOpen) return;
      isOpen = false;
      this.inFlight.delete(forget);
      cancelTimer();
      // Whoever hears of it may want to send at once; a pause comes first.
      this.isBusy = true;
      const isServed = settled.call(request, answer);
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
    // Two that were in flight together fail together: that is one failure.
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
