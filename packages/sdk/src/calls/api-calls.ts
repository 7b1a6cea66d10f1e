import { BACKOFF_DEFAULT, Backoff, type BackoffOptions } from '../base/backoff.ts';
import type { Cancel, ClientPorts, HttpAnswer, HttpRequest } from '../base/ports.ts';
import { isPassing, type Refusal, refusalOf, retryAfterMs } from './http-answers.ts';

export interface ApiCallsOptions {
  /** Number of the server's addresses. */
  readonly addresses: number;
  /** A request without an answer for this long is sent again. */
  readonly answerWithinMs?: number;
  /** A call that was not accepted within this time fails. */
  readonly giveUpAfterMs?: number;
  readonly backoff?: BackoffOptions;
}

const DEFAULTS = { answerWithinMs: 5000, giveUpAfterMs: 60_000, backoff: BACKOFF_DEFAULT };

/** `unknown` when no server answered in time: the call may have had its effect or not. */
export type CallOutcome =
  | { readonly type: 'answered'; readonly answer: HttpAnswer }
  | { readonly type: 'refused'; readonly refusal: Refusal }
  | { readonly type: 'unknown' };

/**
 * Single calls that are safe to repeat. Each is sent until it is answered: to another address when
 * there was no answer, and after a pause when the server could not accept it.
 */
export class ApiCalls {
  private readonly options: Required<ApiCallsOptions>;
  private readonly ports: ClientPorts;
  private readonly open = new Set<Cancel>();
  /** The address of the last answer, or the next one to try. */
  private address = 0;

  constructor(options: ApiCallsOptions, ports: ClientPorts) {
    this.options = { ...DEFAULTS, ...options };
    this.ports = ports;
  }

  /** Calls `done` once with the outcome. */
  call(request: Omit<HttpRequest, 'address'>, done: (outcome: CallOutcome) => void): void {
    const { ports, options } = this;
    const { addresses, answerWithinMs, giveUpAfterMs } = options;
    const backoff = new Backoff(ports, options.backoff, addresses);
    const giveUpAt = ports.now() + giveUpAfterMs;
    let cancelWait: Cancel = () => undefined;
    let cancelRequest: Cancel = () => undefined;
    const forget = (): void => {
      cancelWait();
      cancelRequest();
    };
    const settle = (outcome: CallOutcome): void => {
      this.open.delete(forget);
      done(outcome);
    };
    const attempt = (): void => {
      const { address } = this;
      let isOpen = true;
      const heard = (answer: HttpAnswer | undefined): void => {
        if (!isOpen) return;
        isOpen = false;
        forget();
        const refusal = answer === undefined || answer.status < 400 ? undefined : refusalOf(answer);
        if (answer !== undefined && refusal === undefined) settle({ type: 'answered', answer });
        else if (refusal !== undefined && !isPassing(refusal)) settle({ type: 'refused', refusal });
        else again(address, answer, refusal);
      };
      cancelWait = ports.startTimer(answerWithinMs, () => heard(undefined));
      cancelRequest = ports.send({ ...request, address }, heard);
    };
    const again = (address: number, answer?: HttpAnswer, refusal?: Refusal): void => {
      if (answer === undefined && address === this.address) {
        this.address = (address + 1) % addresses;
      }
      const pauseMs = backoff.next(retryAfterMs(answer));
      if (ports.now() + pauseMs < giveUpAt) cancelWait = ports.startTimer(pauseMs, attempt);
      else settle(refusal === undefined ? { type: 'unknown' } : { type: 'refused', refusal });
    };
    this.open.add(forget);
    attempt();
  }

  /** Cancels everything; no callback runs afterwards. */
  close(): void {
    for (const forget of this.open) forget();
    this.open.clear();
  }
}
