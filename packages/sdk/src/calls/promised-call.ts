import type { HttpAnswer, HttpRequest } from '../base/ports.ts';
import type { ApiCalls } from './api-calls.ts';
import { errorOf, noAnswer } from './sluice-error.ts';

/** What is to come, told by one of two functions. */
export type Start<T> = (resolve: (value: T) => void, reject: (cause: unknown) => void) => void;

/** Makes a promise that ends with the client at the latest. */
export type Until = <T>(start: Start<T>) => Promise<T>;

/** A call of the API that resolves with its answer, or rejects with a `SluiceError`. */
export type PromisedCall = (request: Omit<HttpRequest, 'address'>) => Promise<HttpAnswer>;

/** `addresses` are for people. */
export function promisedCall(
  calls: ApiCalls,
  until: Until,
  addresses: readonly string[],
): PromisedCall {
  return (request) =>
    until((resolve, reject) => {
      calls.call(request, (outcome) => {
        if (outcome.type === 'answered') resolve(outcome.answer);
        else if (outcome.type === 'refused') reject(errorOf(outcome.refusal));
        else reject(noAnswer(addresses));
      });
    });
}
