import type { HttpAnswer, HttpRequest, StreamListener } from '@sluice/sdk/logic';
import type { SimProcess } from '../kernel/sim-process.ts';
import { call } from './call.ts';
import type { ExchangeRequest } from './exchange.ts';
import type { Network } from './network.ts';

/** Requests of the SDK on the simulated network: the `RequestPort` of a process. */
export function sendForSdk(
  network: Network,
  process: SimProcess,
  request: ExchangeRequest,
  answered: (answer: HttpAnswer | undefined) => void,
): () => void {
  let isOff = false;
  const hangUp = call(network, process, request, (answer) => {
    if (isOff) return;
    if (answer === undefined) answered(undefined);
    else {
      const { body, ...head } = answer;
      answered({ ...head, text: body, ...retryAfter(body) });
    }
  });
  return () => {
    isOff = true;
    hangUp();
  };
}

/** A stream of the SDK on the simulated network: the `StreamPort` of a process. */
export function openSdkStream(
  network: Network,
  process: SimProcess,
  request: HttpRequest,
  listener: StreamListener,
): () => void {
  let status = 0;
  const refusal: Uint8Array[] = [];
  return network.request(process, exchangeOf(request), {
    head: (given) => {
      status = given;
    },
    bytes: (chunk) => {
      if (status === 200) listener.bytes(chunk);
      else refusal.push(chunk);
    },
    ended: (how) => {
      const isRefusal = how === 'whole' && status !== 200;
      const text = Buffer.concat(refusal).toString();
      if (isRefusal) listener.ended({ status, text, ...retryAfter(text) });
      else listener.ended();
    },
  });
}

export function exchangeOf(request: HttpRequest): ExchangeRequest {
  const { method, path, body = '', requestKey } = request;
  return { method, path, body, ...(requestKey === undefined ? {} : { requestKey }) };
}

/** The value of the `Retry-After` header in production. Here it is part of the body. */
function retryAfter(text: string): { retryAfter?: string } {
  const ms = /"retryAfterMs":(\d+)/.exec(text)?.[1];
  return ms === undefined ? {} : { retryAfter: String(Math.ceil(Number(ms) / 1000)) };
}
