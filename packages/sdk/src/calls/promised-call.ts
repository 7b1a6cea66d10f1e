import type { HttpAnswer } from '../base/ports.ts';
import type { ApiCalls, ApiRequest } from './api-calls.ts';
import { jsonOf } from './http-answers.ts';
import { errorOf, noAnswer, SluiceError } from './sluice-error.ts';

/** Starts work that settles through one of two functions. */
export type Start<T> = (resolve: (value: T) => void, reject: (cause: unknown) => void) => void;

/** Makes a promise that is rejected at the latest when the client is closed. */
export type Until = <T>(start: Start<T>) => Promise<T>;

/** A call of the API that resolves with its answer, or rejects with a `SluiceError`. */
export type PromisedCall = (request: ApiRequest) => Promise<HttpAnswer>;

/** `addresses` appear in error messages. */
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
        else reject(noAnswer(addresses, outcome.problem));
      });
    });
}

/** The object in an answer. */
export function bodyOf<T extends object>(answer: HttpAnswer): T {
  const body = jsonOf(answer);
  if (typeof body === 'object' && body !== null) return body as T;
  throw new SluiceError('no_answer', 'the answer is not from a Sluice server');
}
