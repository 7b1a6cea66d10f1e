import { SluiceError } from '@sluice/protocol';
import { overloaded } from '../limits/admission.ts';

export function notOwner(): SluiceError {
  return new SluiceError('not_owner', 'this server is not the owner; look up the owner again');
}

export function noOwner(): SluiceError {
  const message = 'no owner of this cluster took the request; try again';
  return new SluiceError('unavailable', message, { retryAfterMs: 1000 });
}

export function stopping(): SluiceError {
  return new SluiceError('unavailable', 'the server is stopping; try again', {
    retryAfterMs: 1000,
  });
}

export function unknownOutcome(): SluiceError {
  const message =
    'the owner went away after it got the request; look whether it was executed before you ' +
    'send it again';
  return new SluiceError('outcome_unknown', message);
}

export function tooMany(): SluiceError {
  return overloaded('too many requests wait for the owner');
}

export function unexpected(cause: unknown): SluiceError {
  return new SluiceError('internal_error', 'something went wrong on the server', { cause });
}
