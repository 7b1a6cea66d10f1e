import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { REQUEST_KEY_HEADER, SluiceError } from '@sluice/protocol';
import { HOP_HEADER, readHop, writeHop } from '../http/hop.ts';
import { answerWithError } from '../http/raw-answer.ts';
import type { RefusalDesk } from '../http/refusal.ts';
import type { RequestGuard } from '../http/request-guard.ts';
import { isDeduped } from './dedupe-keys.ts';
import { Departure } from './departure.ts';
import { Exchange, type Outcome, type Outgoing } from './exchange.ts';
import { noOwner, notOwner, stopping, unexpected, unknownOutcome } from './forwarding-errors.ts';
import { type Held, HeldRequests, type HoldLimits } from './held-requests.ts';
import { type OwnersAnswer, passAnswer } from './pass-answer.ts';
import { type OwnerPlace, Peers } from './peer.ts';
import { type Traits, traitsOf } from './route-traits.ts';

export interface ForwarderOptions extends HoldLimits {
  /** The owner as far as known; undefined while there is none. Asked for every try. */
  readonly owner: () => OwnerPlace | undefined;
  /** Random name of this process. */
  readonly runId: string;
  /** Shared by the servers of the cluster. */
  readonly secret: Uint8Array;
  /** Checks host and origin of a client's request. */
  readonly guard: Pick<RequestGuard, 'check'>;
  readonly desk: RefusalDesk;
  /** Whether every server that may become the owner knows keys of requests. */
  readonly knowsRequestKeys?: () => boolean;
  /** The cluster's time, for hops. */
  readonly clock?: () => number;
  /** How long a request is held while no owner takes it. */
  readonly waitMsMax?: number;
}

const WAIT_MS_MAX = 5000;

/** How often the owner is looked up while a request is held. */
const LOOK_EVERY_MS = 100;
const LOOK_SOON_MS = 10;

/** How often answers under way are compared with the owner. */
const WATCH_EVERY_MS = 500;

/** Nobody reads it, so its stack is captured only once. */
const CLIENT_GONE = new Error('the client is gone');

/** A request that stops its owner must not stop one server after the other. */
const REPEATS_AFTER_BREAK_MAX = 2;

/**
 * Answers requests by asking the owner of the partition.
 *
 * forwarding.no-invented-answer: The client gets the head of an answer only when the owner's has
 *   arrived. Errors of the forwarder itself have the API's format.
 * forwarding.repeat: A request is sent again if it did not reach an owner. If it may have been
 *   executed, it is sent again only if its route says that this is harmless.
 * - A request that another server forwarded is not forwarded again (hop.one).
 * - Held requests and their bodies have a bound (L9). A request is held until the owner's answer
 *   begins.
 */
export class Forwarder {
  readonly handle: RequestListener = (request, response) => {
    void this.take(request, response);
  };

  private readonly options: ForwarderOptions;
  private readonly clock: () => number;
  private readonly peers = new Peers();
  private readonly held: HeldRequests;
  /** Requests whose answer has not ended. */
  private open = 0;
  /** Answers of owners so far. */
  private answered = 0;
  private isClosing = false;
  private readonly watch: NodeJS.Timeout;
  /** Set by `close` while requests are open. */
  private whenIdle: (() => void) | undefined;

  constructor(options: ForwarderOptions) {
    this.options = options;
    this.clock = options.clock ?? Date.now;
    this.held = new HeldRequests(options);
    this.watch = setInterval(() => this.look(), WATCH_EVERY_MS);
    this.watch.unref();
  }

  /** Whether requests wait for an owner's answer. */
  get isHolding(): boolean {
    return this.held.count > 0;
  }

  /**
   * Resolves when an owner answers, or no request waits for one; at the latest when no request is
   * held any longer. A server that has let go of the partition would refuse them otherwise.
   */
  async passedOn(): Promise<void> {
    const { answered } = this;
    const until = performance.now() + (this.options.waitMsMax ?? WAIT_MS_MAX);
    while (this.isHolding && this.answered === answered && performance.now() < until) {
      await sleep(LOOK_EVERY_MS / 5);
    }
  }

  /** Refuses held and further requests. Resolves when every answer that began has ended. */
  async close(): Promise<void> {
    this.isClosing = true;
    clearInterval(this.watch);
    this.peers.close();
    if (this.open === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.whenIdle = resolve;
    await promise;
    this.peers.close();
  }

  /** Notices another owner also when no request comes. */
  private look(): void {
    const place = this.options.owner();
    if (place !== undefined) this.peers.at(place);
  }

  /** Never rejects. */
  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/' } = request;
    const traits = traitsOf(method, url);
    const departure = new Departure(response);
    this.open += 1;
    try {
      await this.forward({ request, response, traits, departure });
    } catch (cause) {
      if (!departure.isOver) this.refuse(request, response, traits, cause);
    } finally {
      this.open -= 1;
      if (this.open === 0) this.whenIdle?.();
    }
  }

  private async forward(call: Call): Promise<void> {
    const { request, response, departure } = call;
    this.refuseSecondHop(request);
    this.options.guard.check(request);
    if (this.isClosing) throw stopping();
    const held = await this.held.hold(request, call.traits);
    let answered: OwnersAnswer;
    try {
      answered = await this.ask(held, departure);
    } finally {
      this.held.release(held);
    }
    if (departure.isOver) return;
    await passAnswer(answered, response);
  }

  /** A hop that no server of this cluster signed is dropped, and the request counts as direct. */
  private refuseSecondHop({ headers }: IncomingMessage): void {
    const hop = readHop(headers, this.options.secret, this.clock());
    if (hop === undefined) return;
    delete headers[HOP_HEADER];
    if (hop === 'forged') return;
    throw notOwner();
  }

  /** Tries until an owner answers. */
  private async ask(held: Held, departure: Departure): Promise<OwnersAnswer> {
    const { waitMsMax = WAIT_MS_MAX } = this.options;
    let giveUpAt = performance.now() + waitMsMax;
    let breaks = 0;
    for (;;) {
      if (departure.isOver) throw CLIENT_GONE;
      const tried = await this.tryOnce(held, giveUpAt, departure);
      if (tried?.outcome.kind === 'answered') {
        this.answered += 1;
        const { outcome, exchange, place } = tried;
        return { answer: outcome.answer, exchange, place };
      }
      const kind = tried?.outcome.kind ?? 'not_sent';
      if (kind === 'broken') {
        breaks += 1;
        giveUpAt = performance.now() + waitMsMax;
        if (!this.mayRepeat(held.outgoing)) throw unknownOutcome();
      }
      const wasSent = kind !== 'not_sent';
      const isSpent = wasSent && held.outgoing.traits.isUpload;
      if (isSpent || breaks > REPEATS_AFTER_BREAK_MAX) throw noOwner();
      if (this.isClosing) throw stopping();
      if (performance.now() + LOOK_EVERY_MS > giveUpAt) throw noOwner();
      await departure.pause(tried === undefined ? this.lookSoonMs : LOOK_EVERY_MS);
    }
  }

  private mayRepeat({ traits, headers, body }: Outgoing): boolean {
    if (traits.repeatable !== 'if_deduped') return traits.repeatable === 'always';
    const hasKey = traits.takesKey && headers[REQUEST_KEY_HEADER] !== undefined;
    const isKnown = hasKey && this.options.knowsRequestKeys?.() === true;
    return Buffer.isBuffer(body) && isDeduped(body, isKnown);
  }

  /** A look without an owner costs a timer and no request, so a few may look more often. */
  private get lookSoonMs(): number {
    return Math.min(LOOK_EVERY_MS, LOOK_SOON_MS + this.held.count / 10);
  }

  /** Undefined when there is no owner. */
  private async tryOnce(
    { outgoing, facts }: Held,
    giveUpAt: number,
    departure: Departure,
  ): Promise<Tried | undefined> {
    const { owner, runId, secret } = this.options;
    const place = owner();
    if (place === undefined) return undefined;
    const hop = writeHop({ ...facts, runId, at: this.clock() }, secret);
    const headers = { ...outgoing.headers, [HOP_HEADER]: hop };
    const sendMsMax = Math.max(0, giveUpAt - performance.now());
    const exchange = begin(() => {
      return new Exchange(this.peers.at(place), { ...outgoing, headers }, sendMsMax);
    });
    departure.whenGone(() => exchange.abort());
    return { outcome: await exchange.outcome, exchange, place };
  }

  private refuse(
    { method = 'GET' }: IncomingMessage,
    response: ServerResponse,
    { route }: Traits,
    cause: unknown,
  ): void {
    const error = cause instanceof SluiceError ? cause : unexpected(cause);
    const { code, status } = error;
    const requestId = this.options.desk.newRequestId();
    const path = route === undefined ? {} : { route };
    this.options.desk.refused({ code, status, requestId, method, ...path, cause: error.cause });
    // After the head nothing can be said any more.
    if (response.headersSent) response.destroy();
    else answerWithError(response, error, requestId);
  }
}

interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly traits: Traits;
  readonly departure: Departure;
}

interface Tried {
  readonly outcome: Outcome;
  readonly exchange: Exchange;
  readonly place: OwnerPlace;
}

/** Node refuses addresses and headers that HTTP/1.1 cannot carry; HTTP/2 clients may send them. */
function begin(make: () => Exchange): Exchange {
  try {
    return make();
  } catch (cause) {
    throw new SluiceError('invalid_request', (cause as Error).message, { cause });
  }
}
