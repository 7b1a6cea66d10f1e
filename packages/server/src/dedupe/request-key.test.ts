import type { IncomingHttpHeaders } from 'node:http';
import { expect, test } from 'vitest';
import { claimsInRequest, requestClaim, requestKeyOf } from './request-key.ts';

const BODY = Buffer.from('[{"type":"a"}]');

test('a request without a key has none', () => {
  expect(requestKeyOf({ 'content-type': 'application/json' }, BODY)).toBeUndefined();
});

test('a request with a key is remembered for a day, or for as long as it asks', () => {
  expect(requestKeyOf({ 'idempotency-key': 'k' }, BODY)).toEqual({
    key: 'k',
    windowMs: 86_400_000,
    body: BODY,
  });
  const headers = { 'idempotency-key': 'k', 'idempotency-window-ms': '5000' };
  expect(requestKeyOf(headers, BODY)?.windowMs).toBe(5000);
});

const WRONG_WINDOWS = ['999', '1e5', '5000.5', '-5000', '0x2000', '', 'soon', '9'.repeat(16)];
const REFUSED: readonly [IncomingHttpHeaders, string][] = [
  [{ 'idempotency-key': '' }, '/idempotency-key'],
  [{ 'idempotency-key': 'two words' }, '/idempotency-key'],
  [{ 'idempotency-key': 'k'.repeat(129) }, '/idempotency-key'],
  [{ 'idempotency-key': 'ö' }, '/idempotency-key'],
  [{ 'idempotency-window-ms': '5000' }, '/idempotency-key'],
  ...[...WRONG_WINDOWS, '9'.repeat(15)].map((window): [IncomingHttpHeaders, string] => {
    const headers = { 'idempotency-key': 'k', 'idempotency-window-ms': window };
    return [headers, '/idempotency-window-ms'];
  }),
];

test.each(REFUSED)('headers %j are refused at %s', (headers, path) => {
  let refusal: unknown;
  try {
    requestKeyOf(headers, BODY);
  } catch (error) {
    refusal = error;
  }

  expect(refusal).toMatchObject({ code: 'invalid_request', details: [{ path }] });
});

test('the key counts in its namespace, and is compared with the bytes of the body', () => {
  const claimOf = (namespace: string, key: string, body: string) => {
    const { words } = requestClaim(namespace, { key, windowMs: 5000, body: Buffer.from(body) });
    return [words.slice(0, 4).join(), words.slice(4).join()];
  };
  const [key, body] = claimOf('default', 'k', '[1]');

  expect(claimOf('default', 'k', '[1]')).toEqual([key, body]);
  expect(claimOf('default', 'k', '[1] ')[0]).toBe(key);
  expect(claimOf('default', 'k', '[1] ')[1]).not.toBe(body);
  expect(claimOf('other', 'k', '[1]')[0]).not.toBe(key);
  expect(claimOf('default', 'l', '[1]')[0]).not.toBe(key);
});

test('beside tasks with dedupe keys, each of the others has a key by its place', () => {
  const { write } = claimsInRequest('default', { key: 'k', windowMs: 5000, body: BODY });
  const words = new Uint32Array(16);

  expect([write(words, 0, 0), write(words, 8, 1)]).toEqual([5000, 5000]);

  expect(words.slice(0, 4)).not.toEqual(words.slice(8, 12));
  expect(words.slice(4, 8)).toEqual(words.slice(12, 16));
});
