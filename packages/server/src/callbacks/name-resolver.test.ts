import { describe, expect, test } from 'vitest';
import { addressesIn, nameResolver } from './name-resolver.ts';

const HOSTS = `
127.0.0.1 localhost
# 10.0.0.9 receiver.example
10.0.0.5\treceiver.example  Receiver.Short # the one
fd00::5 receiver.example
nonsense receiver.example
10.0.0.6 other.example`;

describe('the hosts file', () => {
  test('has every address of a name, and its other names', () => {
    expect(addressesIn(HOSTS, 'receiver.example')).toEqual(['10.0.0.5', 'fd00::5']);
    expect(addressesIn(HOSTS, 'receiver.short')).toEqual(['10.0.0.5']);
    expect(addressesIn(HOSTS, 'unknown.example')).toEqual([]);
    expect(addressesIn('', 'receiver.example')).toEqual([]);
  });
});

test.each(['localhost', 'LocalHost.', 'a.b.localhost'])('%s is this machine', async (name) => {
  expect(await nameResolver([])(name)).toEqual(['127.0.0.1', '::1']);
});
