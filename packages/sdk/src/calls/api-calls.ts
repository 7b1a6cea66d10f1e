import { BACKOFF_DEFAULT, Backoff, type BackoffOptions } from '../base/backoff.ts';
import type { Cancel, ClientPorts, HttpAnswer, HttpRequest, SendProblem } from '../base/ports.ts';
import {
  isHopeless,
  isPassing,
  isUntouched,
  type Refusal,
  refusalOf,
  retryAfterMs,
} from './http-answers.ts';

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
  | { readonly type: 'unknown'; readonly problem?: SendProblem };

export interface ApiRequest extends Omit<HttpRequest, 'address'> {
  /** Not safe to repeat: it is not sent again once it may have arrived. */
  readonly isOnce?: boolean;
  /**
   * A repeat that is refused with this code means that an earlier try had its effect. Then the
   * answer is empty.
   */
  readonly doneWhen?: string;
}

const DONE_BEFORE: HttpAnswer = { status: 204, text: '' };

/**
 * Single calls. Each is sent until it is answered: to another address when there was no answer, and
 * after a pause when the server could not accept it.
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

  /** Calls `done` once with the outcome, unless it is cancelled before. */
  call(
    { isOnce = false, doneWhen, ...request }: ApiRequest,
    done: (outcome: CallOutcome) => void,
  ): Cancel {
    const { ports, options } = this;
    const { addresses, answerWithinMs, giveUpAfterMs } = options;
    const backoff = new Backoff(ports, options.backoff, addresses);
    const giveUpAt = ports.now() + giveUpAfterMs;
    let cancelWait: Cancel = () => undefined;
    let cancelRequest: Cancel = () => undefined;
    let mayHaveArrived = false;
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
      const heard = (answer: HttpAnswer | undefined, problem?: SendProblem): void => {
        if (!isOpen) return;
        isOpen = false;
        forget();
        const refusal = answer === undefined || answer.status < 400 ? undefined : refusalOf(answer);
        if (answer !== undefined && refusal === undefined) settle({ type: 'answered', answer });
        else if (refusal !== undefined && !isPassing(refusal)) refused(refusal);
        else again({ address, answer, refusal, problem });
      };
      cancelWait = ports.startTimer(answerWithinMs, () => heard(undefined));
      cancelRequest = ports.send({ ...request, address }, heard);
    };
    const refused = (refusal: Refusal): void => {
      const isDone = mayHaveArrived && refusal.code === doneWhen;
      settle(isDone ? { type: 'answered', answer: DONE_BEFORE } : { type: 'refused', refusal });
    };
    const again = ({ address, answer, refusal, problem }: Failure): void => {
      if (answer === undefined && address === this.address) {
        this.address = (address + 1) % addresses;
      }
      mayHaveArrived ||= refusal === undefined ? !problem?.isUnsent : !isUntouched(refusal);
      const pauseMs = backoff.next(retryAfterMs(answer));
      const isUseless = isOnce && mayHaveArrived;
      const isTooLate = ports.now() + pauseMs >= giveUpAt;
      if (!isUseless && !isTooLate && !isHopeless(problem, addresses)) {
        cancelWait = ports.startTimer(pauseMs, attempt);
      } else if (refusal === undefined) {
        settle({ type: 'unknown', ...(problem === undefined ? {} : { problem }) });
      } else settle({ type: 'refused', refusal });
    };
    this.open.add(forget);
    attempt();
    return () => {
      forget();
      this.open.delete(forget);
    };
  }

  /** Cancels everything; no callback runs afterwards. */
  close(): void {
    for (const forget of this.open) forget();
    this.open.clear();
  }
}

/** A try that was not served. */
interface Failure {
  readonly address: number;
  readonly answer: HttpAnswer | undefined;
  readonly refusal: Refusal | undefined;
  readonly problem: SendProblem | undefined;
}
