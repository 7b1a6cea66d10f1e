import type { CallbackMessage, SendOutcome } from '@sluice/server';
import type { RandomStream } from '../kernel/random.ts';
import type { SimProcess } from '../kernel/sim-process.ts';
import type { Simulation } from '../kernel/simulation.ts';

/** The callback URLs of tasks. */
export const RECEIVER_URLS = [
  'http://one.example/',
  'http://two.example/x',
  'http://three.example/',
];

/** Is called for every message that reaches a receiver. */
type Heard = (message: CallbackMessage) => void;

/** How long the sender waits for an answer. */
const TIMEOUT_MS = 10_000;

/** Receivers of callbacks. They are sometimes unreachable, answer with errors, and lose answers. */
export class SimReceivers {
  private readonly simulation: Simulation;
  private readonly random: RandomStream;
  private readonly heard: Heard;
  /** Probability of a wrong reaction, by receiver. */
  private readonly faultRates: ReadonlyMap<string, number>;
  /** Until when each receiver is unreachable. */
  private readonly awayUntil = new Map<string, number>();
  private isHealed = false;

  constructor(simulation: Simulation, heard: Heard) {
    this.simulation = simulation;
    this.heard = heard;
    this.random = simulation.random('receivers');
    const { random } = this;
    this.faultRates = new Map(RECEIVER_URLS.map((url) => [url, random.pick([0, 0.1, 0.6])]));
  }

  heal(): void {
    this.isHealed = true;
  }

  /** Sends a message for a server. If the server is killed meanwhile, it gets no answer. */
  send(process: SimProcess, message: CallbackMessage): Promise<SendOutcome> {
    const { promise, resolve } = Promise.withResolvers<SendOutcome>();
    const answer = (outcome: SendOutcome, afterMs: number): void => {
      this.simulation.after(afterMs, () => process.hear(() => resolve(outcome)));
    };
    const delayMs = this.random.logarithmic(0.1, 2000);
    if (this.isAway(message.url)) answer({ status: 0, failure: 'not_connected' }, delayMs);
    else this.simulation.after(delayMs, () => this.take(message, answer));
    return promise;
  }

  private take(
    message: CallbackMessage,
    answer: (outcome: SendOutcome, afterMs: number) => void,
  ): void {
    const { random } = this;
    this.simulation.log('receiver', `${message.id} ${message.body.slice(0, 60)}`);
    this.heard(message);
    const delayMs = random.logarithmic(0.1, 2000);
    if (!this.fails(message.url)) return answer({ status: 200 }, delayMs);
    const failure = random.pick(['lost', 'lost', 'error', 'rest', 'gone'] as const);
    if (failure === 'lost') return answer({ status: 0, failure: 'timed_out' }, TIMEOUT_MS);
    if (failure === 'gone') return answer({ status: 410, failure: 'gone' }, delayMs);
    const rest = failure === 'rest' ? { retryAfterMs: random.integer(0, 5000) } : {};
    answer({ status: 503, failure: 'answered_with_error', ...rest }, delayMs);
  }

  private fails(url: string): boolean {
    return !this.isHealed && this.random.chance(this.faultRates.get(url) ?? 0);
  }

  private isAway(url: string): boolean {
    if (this.isHealed) return false;
    const { now } = this.simulation;
    if ((this.awayUntil.get(url) ?? 0) > now) return true;
    if (!this.random.chance(0.1 * (this.faultRates.get(url) ?? 0))) return false;
    this.awayUntil.set(url, now + this.random.logarithmic(100, 60_000));
    return true;
  }
}
