import { expect, test, vi } from 'vitest';
import { isGenuine } from './verify-callback.ts';

/** A published example of the scheme. */
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const BODY = Buffer.from('{"test": 2432232314}');
const SIGNED_AT_S = 1614265330;
const HEADERS = {
  'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  'webhook-timestamp': String(SIGNED_AT_S),
  'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
};

function isGenuineAt(second: number, headers: object = {}, body = BODY): boolean {
  vi.setSystemTime(1000 * second);
  try {
    return isGenuine({ ...HEADERS, ...headers }, body, SECRET);
  } finally {
    vi.useRealTimers();
  }
}

test('what was signed is genuine, also beside a signature with another secret', () => {
  const two = `v1,${Buffer.alloc(32).toString('base64')} ${HEADERS['webhook-signature']}`;

  expect(isGenuineAt(SIGNED_AT_S)).toBe(true);
  expect(isGenuineAt(SIGNED_AT_S, { 'webhook-signature': two })).toBe(true);
});

test('anything else is not', () => {
  expect(isGenuineAt(SIGNED_AT_S, {}, Buffer.from('{"test":2432232314}'))).toBe(false);
  expect(isGenuineAt(SIGNED_AT_S, { 'webhook-id': 'msg_other' })).toBe(false);
  expect(isGenuineAt(SIGNED_AT_S, { 'webhook-signature': undefined })).toBe(false);
  expect(isGenuineAt(SIGNED_AT_S, { 'webhook-signature': 'v1,AAAA' })).toBe(false);
  expect(isGenuineAt(SIGNED_AT_S + 301)).toBe(false);
  expect(isGenuineAt(SIGNED_AT_S, { 'webhook-timestamp': 'now' })).toBe(false);
});
