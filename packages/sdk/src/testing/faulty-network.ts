import type {
  Cancel,
  HttpAnswer,
  HttpRequest,
  RequestPort,
  StreamListener,
  StreamPort,
} from '../base/ports.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { VirtualTime } from './virtual-time.ts';

/** Receives the events of a stream. */
export interface ServerStream {
  write(event: string, data: unknown): void;
  end(): void;
}

/** The server at the other end. */
export interface NetworkPeer {
  readonly isUp: boolean;
  /** Increases at a restart: requests to the earlier process get no answer. */
  readonly epoch: number;
  answer(request: HttpRequest): HttpAnswer;
  /** Opens a session; `stream` is called when the stream is open. */
  attach(body: unknown): { session: string; stream: (stream: ServerStream) => void };
  streamClosed(session: string, stream: ServerStream): void;
}

export interface FaultChances {
  readonly requestLost: number;
  readonly requestTwice: number;
  readonly answerLost: number;
  readonly answerTwice: number;
  /** Chance that a failed connection stays open silently instead of breaking. */
  readonly silence: number;
  readonly refused: number;
  /** Chance, for each piece of a stream, that the stream is cut there. */
  readonly cut: number;
}

export const NO_FAULTS: FaultChances = {
  requestLost: 0,
  requestTwice: 0,
  answerLost: 0,
  answerTwice: 0,
  silence: 0,
  refused: 0,
  cut: 0,
};

const DELAY_MS_MAX = 30;

const OVERLOADED: HttpAnswer = { status: 429, text: '{}', retryAfter: '1' };

/** Carries requests to a server, and loses, doubles, delays and cuts them. */
export class FaultyNetwork implements RequestPort, StreamPort {
  faults: FaultChances;
  private readonly time: VirtualTime;
  private readonly random: SeededRandom;
  private readonly server: NetworkPeer;

  constructor(time: VirtualTime, random: SeededRandom, server: NetworkPeer, faults: FaultChances) {
    this.time = time;
    this.random = random;
    this.server = server;
    this.faults = faults;
  }

  send(request: HttpRequest, answered: (answer: HttpAnswer | undefined) => void): Cancel {
    const { random, faults } = this;
    let isOpen = true;
    const deliver = (answer: HttpAnswer | undefined): void => {
      const times = random.chance(faults.answerTwice) ? 2 : 1;
      for (let i = 0; i < times; i++) {
        this.later(() => {
          if (isOpen) answered(answer);
        });
      }
    };
    const arrivals = random.chance(faults.requestTwice) ? 2 : 1;
    for (let i = 0; i < arrivals; i++) {
      // A sent request may arrive, even when the client no longer waits for its answer.
      this.later(() => {
        if (random.chance(faults.requestLost)) this.fail(deliver);
        else this.arrive(request, i === 0 ? deliver : () => undefined);
      });
    }
    return () => {
      isOpen = false;
    };
  }

  openStream(request: HttpRequest, listener: StreamListener): Cancel {
    const wire = new Wire(this, listener);
    this.later(() => {
      const isLost = this.random.chance(this.faults.requestLost) || !this.server.isUp;
      if (isLost) this.fail(() => wire.breakOff());
      else if (this.random.chance(this.faults.refused)) wire.breakOff(OVERLOADED);
      else {
        const { session, stream } = this.server.attach(JSON.parse(request.body ?? ''));
        wire.onClosed = () => this.server.streamClosed(session, wire);
        if (wire.isOpen) stream(wire);
      }
    });
    return () => wire.close();
  }

  later(run: () => void): void {
    this.time.startTimer(this.random.next() * DELAY_MS_MAX, run);
  }

  /** How many of the waiting bytes travel next, and whether the stream is cut after them. */
  nextPiece(length: number): { length: number; isLast: boolean } {
    const isLast = this.random.chance(this.faults.cut);
    const isPart = isLast || this.random.chance(0.3);
    return { length: isPart ? this.random.upTo(length) : length, isLast };
  }

  private arrive(request: HttpRequest, deliver: (answer: HttpAnswer | undefined) => void): void {
    if (!this.server.isUp) {
      deliver(undefined);
      return;
    }
    const { epoch } = this.server;
    const answer = this.random.chance(this.faults.refused)
      ? OVERLOADED
      : this.server.answer(request);
    if (this.random.chance(this.faults.answerLost)) this.fail(deliver);
    else this.later(() => deliver(epoch === this.server.epoch ? answer : undefined));
  }

  /** Breaks the connection, or leaves it open without an answer. */
  fail(deliver: (answer: undefined) => void): void {
    if (!this.random.chance(this.faults.silence)) deliver(undefined);
  }
}

/** One stream from server to worker: in order, in pieces, perhaps not to the end. */
class Wire implements ServerStream {
  isOpen = true;
  onClosed: () => void = () => undefined;
  private readonly network: FaultyNetwork;
  private readonly listener: StreamListener;
  private waiting = new Uint8Array(0);
  private isEnding = false;
  private isMoving = false;
  /** Nothing more gets through. */
  private isDead = false;

  constructor(network: FaultyNetwork, listener: StreamListener) {
    this.network = network;
    this.listener = listener;
  }

  write(event: string, data: unknown): void {
    const bytes = new TextEncoder().encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    const joined = new Uint8Array(this.waiting.length + bytes.length);
    joined.set(this.waiting);
    joined.set(bytes, this.waiting.length);
    this.waiting = joined;
    this.move();
  }

  end(): void {
    this.isEnding = true;
    this.move();
  }

  /** The worker closed it. */
  close(): void {
    this.isOpen = false;
    this.network.later(() => this.onClosed());
  }

  breakOff(refusal?: HttpAnswer): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.onClosed();
    this.network.later(() => this.listener.ended(refusal));
  }

  private move(): void {
    if (this.isMoving) return;
    this.isMoving = true;
    this.network.later(() => {
      this.isMoving = false;
      if (!this.isOpen || this.isDead) return;
      const { length, isLast } = this.network.nextPiece(this.waiting.length);
      const piece = this.waiting.slice(0, length);
      this.waiting = this.waiting.slice(length);
      if (piece.length > 0) this.listener.bytes(piece);
      this.isDead = isLast;
      if (isLast) this.network.fail(() => this.breakOff());
      else if (this.isEnding && this.waiting.length === 0) this.breakOff();
      else if (this.waiting.length > 0 || this.isEnding) this.move();
    });
  }
}
