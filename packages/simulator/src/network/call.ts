import type { SimProcess } from '../kernel/sim-process.ts';
import type { ExchangeRequest } from './exchange.ts';
import type { Network } from './network.ts';

export interface CallAnswer {
  readonly status: number;
  /** JSON text. */
  readonly body: string;
  /** The key of the request, if the server remembers it. */
  readonly requestKey?: string;
}

/** A client that gets no answer for this long gives up. */
const ANSWER_MS_MAX = 30_000;

/**
 * Sends a request and waits for the whole answer. `done` receives `undefined` when there is no
 * answer; then the request may or may not have had an effect. Returns a function that hangs up
 * earlier.
 */
export function call(
  network: Network,
  from: SimProcess,
  request: ExchangeRequest,
  done: (answer: CallAnswer | undefined) => void,
): () => void {
  let head: Omit<CallAnswer, 'body'> = { status: 0 };
  const chunks: Uint8Array[] = [];
  const finish = (answer: CallAnswer | undefined): void => {
    stopTimer();
    done(answer);
  };
  const giveUp = network.request(from, request, {
    head: (status, requestKey) => {
      head = { status, ...(requestKey === undefined ? {} : { requestKey }) };
    },
    bytes: (chunk) => chunks.push(chunk),
    ended: (how) => {
      finish(how === 'whole' ? { ...head, body: Buffer.concat(chunks).toString() } : undefined);
    },
  });
  const stopTimer = from.after(ANSWER_MS_MAX, () => {
    giveUp();
    finish(undefined);
  });
  return () => {
    stopTimer();
    giveUp();
  };
}
