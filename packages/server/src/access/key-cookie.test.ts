import { expect, test } from 'vitest';
import { cookieAuthorization, keyCookie } from './key-cookie.ts';

const COOKIE = 'other=1; sluice-key-7420=slk_abc; sluice-key-7421=slk_other';

function request(headers: Record<string, string>, method = 'GET') {
  return { method, headers: { host: 'localhost:7420', cookie: COOKIE, ...headers } };
}

test('a page of the server may use the key in its cookie', () => {
  const own = { 'sec-fetch-site': 'same-origin' };

  expect(cookieAuthorization(request(own))).toBe('Bearer slk_abc');
  expect(cookieAuthorization(request(own, 'POST'))).toBe('Bearer slk_abc');
});

test.each([
  ['a page of another port', { 'sec-fetch-site': 'same-site' }, 'GET'],
  ['a page of another site', { 'sec-fetch-site': 'cross-site' }, 'GET'],
  ['a form of an unknown place', { 'sec-fetch-site': 'none' }, 'POST'],
  ['a change without an origin', {}, 'POST'],
])('%s may not (access.cookie-from-own-pages)', (_name, headers, method) => {
  expect(cookieAuthorization(request(headers, method))).toBeUndefined();
});

test('a browser that sends no Sec-Fetch-Site may read, and change with its origin', () => {
  expect(cookieAuthorization(request({}))).toBe('Bearer slk_abc');
  const origin = { origin: 'http://localhost:7420' };
  expect(cookieAuthorization(request(origin, 'DELETE'))).toBe('Bearer slk_abc');
});

test('the cookie of a server on another port does not count', () => {
  expect(cookieAuthorization(request({ host: 'localhost:9000' }))).toBeUndefined();
});

test('scripts cannot read the cookie, and other sites do not send it', () => {
  expect(keyCookie(request({}), 'slk_abc')).toBe(
    'sluice-key-7420=slk_abc; Path=/v1; Max-Age=2592000; HttpOnly; SameSite=Strict',
  );
});

test('it is Secure where the browser uses TLS, also before a proxy', () => {
  const secure = keyCookie(request({ origin: 'https://localhost:7420' }), 'slk_abc');
  expect(secure).toMatch(/; Secure$/);
  const encrypted = { ...request({}), socket: { encrypted: true } };
  expect(keyCookie(encrypted, 'slk_abc')).toMatch(/; Secure$/);
});

test('logging out empties it', () => {
  expect(keyCookie(request({}), undefined)).toMatch(/^sluice-key-7420=; Path=\/v1; Max-Age=0;/);
});
