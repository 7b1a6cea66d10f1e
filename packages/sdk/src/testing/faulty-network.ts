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

/** Where the events of a stream go. */
export interface ServerStream {
  write(event: string, data: unknown): void;
  end(): void;
}

/** The server at the other end. */
export interface NetworkPeer {
  readonly isUp: boolean;
  /** Rises at a restart: what was asked of the process before gets no answer. */
  readonly epoch: number;
  answer(request: HttpRequest): HttpAnswer;
  /** Opens a session; the stream is handed over when it is open. */
  attach(body: unknown): { session: string; stream: (stream: ServerStream) => void };
  streamClosed(session: string, stream: ServerStream): void;
}

export interface FaultChances {
  readonly requestLost: number;
  readonly requestTwice: number;
  readonly answerLost: number;
  readonly answerTwice: number;
  /** A connection that says nothing any more, in place of one that breaks. */
  readonly silence: number;
  readonly refused: number;
  /** Of each piece of a stream, that the stream is cut there. */
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

/** Carries requests to a server, and loses, doubles, delays and cuts what it carries. */
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
      // What was sent may arrive, though nobody waits for its answer any more.
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

  /** How much of what waits travels next, and whether the line is cut behind it. */
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

  /** Breaks the line, or leaves it open without a word. */
  fail(deliver: (answer: undefined) => void): void {
    if (!this.random.chance(this.faults.silence)) deliver(undefined);
  }
}

/** One stream on its way from server to worker: in order, in pieces, perhaps not to the end. */
class Wire implements ServerStream {
  isOpen = true;
  onClosed: () => void = () => undefined;
  private readonly network: FaultyNetwork;
  private readonly listener: StreamListener;
  private waiting = new Uint8Array(0);
  private isEnding = false;
  private isMoving = false;
  /** Nothing gets through any more. */
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

  /** The worker let go of it. */
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
