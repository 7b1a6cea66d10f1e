import { describe, expect, test } from 'vitest';
import { isRange } from '../base/address-range.ts';
import { AddressGuard } from './address-guard.ts';
import { checkedAddresses, type SendError } from './checked-addresses.ts';

/** The addresses that names resolve to in these tests. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  'public.example': ['93.184.216.34'],
  'both.example': ['93.184.216.34', '2606:2800:220:1::1'],
  'private.example': ['10.0.0.5'],
  'mixed.example': ['93.184.216.34', '127.0.0.1'],
  'mixed6.example': ['2606:2800:220:1::1', '::1'],
  'mapped.example': ['::ffff:127.0.0.1'],
  'metadata.google.internal': ['169.254.169.254'],
  'localtest.example': ['127.0.0.1'],
  'zone.example': ['fe80::1%eth0'],
  'odd.example': ['not an address'],
};

/** Many spellings of addresses that are refused. Only the address they resolve to counts. */
const REFUSED = [
  'http://127.0.0.1/',
  'http://127.0.0.1:8080/x',
  'http://127.1/',
  'http://127.0.1/',
  'http://127.255.255.254/',
  'http://0x7f000001/',
  'http://0x7f.0.0.1/',
  'http://0x7f.1/',
  'http://2130706433/',
  'http://017700000001/',
  'http://0177.0.0.1/',
  'http://0177.0.0.01/',
  'http://127.0.0.1./',
  'http://１２７.０.０.１/',
  'http://①②⑦.⓪.⓪.①/',
  'http://127。0。0。1/',
  'http://%31%32%37.0.0.1/',
  'http://0/',
  'http://0.0.0.0/',
  'http://0.0.0.0:80/',
  'http://[::]/',
  'http://[::1]/',
  'http://[0:0:0:0:0:0:0:1]/',
  'http://[0000::0001]:9000/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:7f00:1]/',
  'http://[::ffff:10.0.0.1]/',
  'http://[::ffff:169.254.169.254]/',
  'http://[::127.0.0.1]/',
  'http://[64:ff9b::127.0.0.1]/',
  'http://[64:ff9b::a9fe:a9fe]/',
  'http://[64:ff9b:1::1]/',
  'http://[2002:7f00:1::]/',
  'http://[2002:a00:1::1]/',
  'http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/',
  'http://[2001:db8::1]/',
  'http://[3fff::1]/',
  'http://[3ffe::1]/',
  'http://[2001:10::1]/',
  'http://[fc00::1]/',
  'http://[fd12:3456:789a::1]/',
  'http://[fd00:ec2::254]/',
  'http://[fe80::1]/',
  'http://[fec0::1]/',
  'http://[ff02::1]/',
  'http://[100::1]/',
  'http://[5f00::1]/',
  'http://10.0.0.1/',
  'http://10.255.255.255/',
  'http://0xa.1/',
  'http://167772161/',
  'http://172.16.0.1/',
  'http://172.31.255.255/',
  'http://192.168.0.1/',
  'http://3232235521/',
  'http://169.254.169.254/latest/meta-data/',
  'http://169.254.0.1/',
  'http://0xa9fea9fe/',
  'http://2852039166/',
  'http://168.63.129.16/',
  'http://100.64.0.1/',
  'http://100.100.100.200/',
  'http://100.127.255.255/',
  'http://192.0.0.192/',
  'http://192.0.2.1/',
  'http://198.51.100.1/',
  'http://203.0.113.9/',
  'http://192.88.99.1/',
  'http://198.18.0.1/',
  'http://198.19.255.255/',
  'http://224.0.0.1/',
  'http://239.255.255.255/',
  'http://240.0.0.1/',
  'http://255.255.255.255/',
  'http://4294967295/',
  'https://localhost/',
  'https://LOCALHOST:8443/',
  'https://localhost./',
  'https://anything.localhost/',
  'https://private.example/',
  'https://mixed.example/',
  'https://mixed6.example/',
  'https://mapped.example/',
  'http://metadata.google.internal/computeMetadata/v1/',
  'https://localtest.example/',
  'https://zone.example/',
  'https://odd.example/',
];

const ALLOWED = [
  'http://93.184.216.34/',
  'http://1.1.1.1/',
  'http://0x01010101/',
  'http://100.63.255.255/',
  'http://100.128.0.1/',
  'http://172.15.255.255/',
  'http://172.32.0.1/',
  'http://169.253.255.255/',
  'http://192.167.255.255/',
  'http://223.255.255.255/',
  'http://[2606:4700:4700::1111]/',
  'http://[2a00:1450:4001::1]/',
  'https://public.example/',
  'https://both.example:8443/',
];

describe('without exceptions', () => {
  test.each(REFUSED)('%s is not called', async (url) => {
    expect(await reached(url, [])).toBe('address_not_allowed');
  });

  test.each(ALLOWED)('%s may be called', async (url) => {
    expect(await reached(url, [])).toBe('let through');
  });
});

describe('with exceptions', () => {
  test.each([
    ['http://127.0.0.1/', '127.0.0.0/8'],
    ['http://[::1]/', '::1'],
    ['http://10.1.2.3/', '10.0.0.0/8'],
    ['http://[fd00::1]/', 'fd00::/8'],
    ['https://private.example/', 'private.example'],
    ['https://PRIVATE.example/', 'Private.Example'],
    ['http://[::ffff:10.0.0.1]/', '10.0.0.0/8'],
  ])('%s may be called when %s is allowed', async (url, allowed) => {
    expect(await reached(url, [allowed])).toBe('let through');
  });

  test.each([
    ['http://127.0.0.1/', '10.0.0.0/8'],
    ['http://11.0.0.1.private.example/', 'private.example'],
    ['https://mixed.example/', '10.0.0.0/8'],
    ['http://10.0.0.1/', '10.0.0.2'],
  ])('%s may not be called when %s is allowed', async (url, allowed) => {
    expect(await reached(url, [allowed])).not.toBe('let through');
  });
});

test.each([
  ['10.0.0.0/8', true],
  ['10.0.0.1', true],
  ['::1/128', true],
  ['10.0.0.0/33', false],
  ['10.0.0.0/', false],
  ['10.0.0.0/8/8', false],
  ['fe80::1%eth0', false],
  ['example.com', false],
])('whether %s is a range: %s', (text, expected) => {
  expect(isRange(text)).toBe(expected);
});

/** The result of a callback to this URL. No connection is made. */
async function reached(url: string, allow: readonly string[]): Promise<string> {
  const resolve = async (name: string) => NAMES[name] ?? localhost(name);
  try {
    await checkedAddresses(new URL(url), new AddressGuard(allow), resolve);
    return 'let through';
  } catch (cause) {
    return (cause as SendError).failure;
  }
}

function localhost(name: string): readonly string[] {
  return /(^|\.)localhost\.?$/i.test(name) ? ['127.0.0.1', '::1'] : [];
}
