import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { DedupeClaim } from '@sluice/core';
import { LIMITS, REQUEST_KEY_HEADER, REQUEST_WINDOW_HEADER, SubmitHeaders } from '@sluice/protocol';
import { Checker } from '../base/validation.ts';
import { type OtherClaims, writeKeyHash, writeWords } from './dedupe-hashes.ts';
import { HASH_WORDS } from './value-hash.ts';

/** The key of a whole request, with the body that it stands for. */
export interface RequestKey {
  readonly key: string;
  /** How long the request is remembered. */
  readonly windowMs: number;
  readonly body: Uint8Array;
}

const headersChecker = new Checker(SubmitHeaders);

/** The key that a client gave its request; undefined when it gave none. */
export function requestKeyOf(
  headers: IncomingHttpHeaders,
  body: Uint8Array,
): RequestKey | undefined {
  const key = headers[REQUEST_KEY_HEADER];
  const window = headers[REQUEST_WINDOW_HEADER];
  if (key === undefined && window === undefined) return undefined;
  const given = headersChecker.parse(
    {
      ...(key === undefined ? {} : { [REQUEST_KEY_HEADER]: key }),
      ...(window === undefined ? {} : { [REQUEST_WINDOW_HEADER]: wholeNumber(window) }),
    },
    'the headers are not valid',
  );
  const { [REQUEST_WINDOW_HEADER]: windowMs = LIMITS.dedupeWindowMsDefault } = given;
  return { key: given[REQUEST_KEY_HEADER], windowMs, body };
}

/** The number that a header says; any other text stays as it is, to be refused by name. */
function wholeNumber(text: string | string[]): unknown {
  return typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : text;
}

/** The key as the core takes it. */
export function requestClaim(namespace: string, { key, windowMs, body }: RequestKey): DedupeClaim {
  const words = new Uint32Array(2 * HASH_WORDS);
  writeKeyHash(words, 0, keyText(namespace, key));
  writeBodyHash(words, HASH_WORDS, body);
  return { words, start: 0, windowMs };
}

/**
 * Where some tasks of a request have dedupe keys, each of the others gets one that follows from the
 * key of the request: their numbers need not follow each other.
 */
export function claimsInRequest(namespace: string, request: RequestKey): OtherClaims {
  const text = keyText(namespace, request.key);
  const body = new Uint32Array(HASH_WORDS);
  // Once for all tasks: a check of a request is linear in its size.
  writeBodyHash(body, 0, request.body);
  return {
    write: (words, at, place) => {
      writeKeyHash(words, at, `${text}\0${place}`);
      words.set(body, at + HASH_WORDS);
      return request.windowMs;
    },
  };
}

function writeBodyHash(words: Uint32Array, at: number, body: Uint8Array): void {
  writeWords(words, at, hash('sha256', body, 'binary'));
}

/** No task type is empty, so no key of a task has this text. */
function keyText(namespace: string, key: string): string {
  return `${namespace}/\0${key}`;
}
