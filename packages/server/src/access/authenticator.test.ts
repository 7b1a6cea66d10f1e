import type { AccessKey } from '@sluice/core';
import { SluiceError } from '@sluice/protocol';
import { beforeEach, expect, test } from 'vitest';
import { Authenticator } from './authenticator.ts';
import { makeKey, type NewKey } from './key-text.ts';

const HOME = '192.0.2.1';
const ELSEWHERE = '198.51.100.9';

let now: number;
let keys: Map<string, AccessKey>;
let blocked: object[];
let authenticator: Authenticator;

beforeEach(() => {
  now = 1_000_000;
  keys = new Map();
  blocked = [];
  const accessKeys = {
    get size() {
      return keys.size;
    },
    get: (id: string) => keys.get(id),
    values: () => keys.values(),
  };
  authenticator = new Authenticator({
    state: { accessKeys },
    clock: () => now,
    onBlocked: (who) => blocked.push(who),
  });
});

function add(more: Partial<AccessKey> = {}): NewKey {
  const made = makeKey(now);
  const { id, hash } = made;
  const about = { namespace: 'shop', role: 'worker', name: '', createdAt: now, expiresAt: 0 };
  keys.set(id, { id, hash, ...about, ...more });
  return made;
}

function codeOf(header: string | undefined, address = HOME): string {
  try {
    return authenticator.authenticate(header, address).actor;
  } catch (cause) {
    if (!(cause instanceof SluiceError)) throw cause;
    return cause.code;
  }
}

test('a server without keys is open', () => {
  expect(authenticator.authenticate(undefined, HOME)).toEqual({
    namespace: 'default',
    roles: ['admin'],
    actor: 'local',
  });
  expect(codeOf('Bearer slk_of_another_server')).toBe('local');
});

test('the holder of a key speaks for its namespace, in its roles', () => {
  const { id, text } = add();

  const caller = authenticator.authenticate(`Bearer ${text}`, HOME);

  expect(caller).toEqual({ namespace: 'shop', roles: ['worker'], actor: id });
  expect(authenticator.lastUsedAt(id)).toBe(now);
});

test.each([
  ['nothing', () => undefined],
  ['another scheme', (text: string) => `Basic ${text}`],
  ['no scheme', (text: string) => text],
  ['a text that is too short', (text: string) => `Bearer ${text.slice(0, -1)}`],
  ['another secret', (text: string) => `Bearer ${text.slice(0, -4)}beef`],
  ['two texts', (text: string) => `Bearer ${text} ${text}`],
  ['an id alone', (text: string) => `Bearer k_${text.slice(4, 24)}`],
  ['capitals', (text: string) => `Bearer ${text.toUpperCase()}`],
])('%s is no key', (_, headerOf) => {
  const { text } = add();

  expect(codeOf(headerOf(text))).toBe('unauthenticated');
});

test('a key that is revoked or has expired is worth nothing at once', () => {
  const [revoked, expiring] = [add(), add({ expiresAt: now + 5 })];
  expect(codeOf(`Bearer ${revoked.text}`)).toBe(revoked.id);
  expect(codeOf(`Bearer ${expiring.text}`)).toBe(expiring.id);

  keys.delete(revoked.id);
  now += 5;

  expect(codeOf(`Bearer ${expiring.text}`)).toBe('unauthenticated');
  add();
  expect(codeOf(`Bearer ${revoked.text}`)).toBe('unauthenticated');
  expect([revoked, expiring].map(({ id }) => authenticator.isLive(id))).toEqual([false, false]);
});

test('who guesses is refused without a look, the right key too', () => {
  const { text } = add();
  for (let n = 0; n < 20; n++) expect(codeOf(`Bearer wrong${n}`)).toBe('unauthenticated');

  expect(codeOf(`Bearer ${text}`)).toBe('too_many_failures');
  expect(codeOf(`Bearer ${text}`, ELSEWHERE)).not.toBe('too_many_failures');
  expect(blocked).toEqual([{ address: HOME }]);
});

test('the failures of others do not lock out a key that was used from there before', () => {
  const { id, text } = add();
  expect(codeOf(`Bearer ${text}`)).toBe(id);
  for (let n = 0; n < 30; n++) codeOf(`Bearer wrong${n}`);

  expect(codeOf(`Bearer ${text}`)).toBe(id);
});

test('guesses at one key are counted wherever they come from', () => {
  const { id, text } = add();
  const guess = `${text.slice(0, -4)}beef`;
  for (let n = 0; n < 50; n++) codeOf(`Bearer ${guess}`, `203.0.113.${n}`);

  expect(codeOf(`Bearer ${text}`, ELSEWHERE)).toBe('too_many_failures');
  expect(blocked).toEqual([{ key: id }]);
});

test('a network of IPv6 counts as one address', () => {
  add();
  for (let n = 0; n < 20; n++) codeOf('Bearer wrong', `2001:db8:1:2:${n}::1`);

  expect(codeOf('Bearer wrong', '2001:db8:1:2:ffff::9')).toBe('too_many_failures');
  expect(codeOf('Bearer wrong', '2001:db8:1:3::9')).toBe('unauthenticated');
});

test('a request without a key is no guess', () => {
  add();
  for (let n = 0; n < 30; n++) codeOf(undefined);

  expect(codeOf(undefined)).toBe('unauthenticated');
});
