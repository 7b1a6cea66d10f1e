import { EventHeap, type Happening } from './event-heap.ts';
import { RandomStream } from './random.ts';
import { Trace } from './trace.ts';

/**
 * Captured before globals are poisoned. All promises settle between two callbacks, even when both
 * were scheduled together. So a round of callbacks needs only one turn of the real event loop,
 * which costs as much as several happenings.
 */
const endTurn = setImmediate;

const TURNS_PER_ROUND = 100;

export interface SimulationOptions {
  readonly seed: number;
  readonly print?: (line: string) => void;
}

/** More happenings than this at one moment mean an endless loop. */
const HAPPENINGS_AT_ONCE_MAX = 100_000;

/** A rule of the product was broken. The message starts with the name of the rule. */
export class ViolationError extends Error {
  override readonly name = 'ViolationError';
  readonly rule: string;

  constructor(rule: string, what: string) {
    super(`${rule}: ${what}`);
    this.rule = rule;
  }
}

/**
 * One heap of happenings and one virtual time; everything that a simulated world does goes through
 * here.
 *
 * - Nothing happens but by a happening, or by a promise that one of them settled.
 * simulation.same-order: The same seed gives the same happenings in the same order.
 * simulation.time-moves: Time goes on: whoever does something again and again waits in between.
 */
export class Simulation {
  readonly seed: number;
  readonly trace: Trace;
  /** Milliseconds since the start. */
  now = 0;
  /** Number of happenings so far. */
  steps = 0;
  private readonly heap = new EventHeap();
  private readonly ties: RandomStream;
  private planned = 0;
  /** Happenings since the time last changed. */
  private atOnce = 0;
  private failure: Error | undefined;

  constructor({ seed, print }: SimulationOptions) {
    this.seed = seed;
    this.trace = new Trace(print);
    this.ties = new RandomStream(seed, 'ties');
  }

  random(name: string): RandomStream {
    return new RandomStream(this.seed, name);
  }

  /** Plans something; the returned function cancels it. */
  after(delayMs: number, run: () => void): () => void {
    const happening: Happening = {
      at: this.now + Math.max(0, delayMs),
      tie: this.ties.next(),
      sequence: this.planned++,
      run,
      isOff: false,
    };
    this.heap.push(happening);
    return () => {
      happening.isOff = true;
    };
  }

  log(who: string, what: string): void {
    this.trace.add(this.now, who, what);
  }

  /** The first failure ends the run, wherever it was noticed. */
  fail(failure: Error): void {
    this.failure ??= failure;
  }

  /** Checks a rule by its number. */
  check(holds: boolean, rule: string, what: string | (() => string)): void {
    if (holds) return;
    const violation = new ViolationError(rule, typeof what === 'string' ? what : what());
    this.fail(violation);
    throw violation;
  }

  /** Runs everything up to a time, or until something fails. */
  runUntil(until: number): Promise<void> {
    return new Promise((resolve, reject) => {
      let isOver = false;
      const settle = (): void => {
        isOver = true;
        if (this.failure === undefined) resolve();
        else reject(this.failure);
      };
      const turn = (): void => {
        if (isOver) return;
        if (this.failure !== undefined || !this.happenNext(until)) settle();
      };
      const round = (): void => {
        turn();
        if (isOver) return;
        for (let i = 1; i < TURNS_PER_ROUND; i++) endTurn(turn);
        endTurn(round);
      };
      endTurn(round);
    });
  }

  /** Returns whether there was a happening up to `until`. */
  private happenNext(until: number): boolean {
    const next = this.heap.popUntil(until);
    if (next === undefined) {
      this.now = until;
      return false;
    }
    this.atOnce = next.at > this.now ? 0 : this.atOnce + 1;
    this.now = next.at;
    this.steps += 1;
    try {
      this.check(
        this.atOnce < HAPPENINGS_AT_ONCE_MAX,
        'simulation.time-moves',
        'time stands still',
      );
      next.run();
    } catch (failure) {
      this.fail(failure as Error);
    }
    return true;
  }
}
