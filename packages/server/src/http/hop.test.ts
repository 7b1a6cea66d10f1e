import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HOP_HEADER, type Hop, readHop, writeHop } from './hop.ts';

const SECRET = Buffer.from('secret');

const HOP: Hop = {
  runId: 'run-a',
  at: 1_000_000,
  address: '192.0.2.1',
  isEncrypted: true,
  host: 'sluice.example:7421',
  origin: 'https://sluice.example:7421',
  site: 'same-origin',
};

const hops: fc.Arbitrary<Hop> = fc.record(
  {
    runId: fc.string({ unit: 'binary' }),
    at: fc.nat(),
    address: fc.string(),
    isEncrypted: fc.boolean(),
    host: fc.string({ unit: 'binary' }),
    origin: fc.string(),
    site: fc.string(),
  },
  { requiredKeys: ['runId', 'at', 'address', 'isEncrypted', 'host'] },
);

function read(header: string, now = HOP.at, secret: Uint8Array = SECRET) {
  return readHop({ [HOP_HEADER]: header }, secret, now);
}

test('a hop is read as it was written, and its header is plain text', () => {
  fc.assert(
    fc.property(hops, fc.uint8Array(), (hop, secret) => {
      const header = writeHop(hop, secret);

      expect(header).toMatch(/^[\w-]+\.[\w-]+$/);
      expect(read(header, hop.at, secret)).toEqual(hop);
    }),
  );
});

test('no text but that of a server with the secret is a hop (hop.trust)', () => {
  const header = writeHop(HOP, SECRET);
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      fc.pre(text !== header);
      expect(read(text)).toBe('forged');
      expect(read(`${text}.${header.split('.')[1]}`)).toBe('forged');
      expect(read(`${header.split('.')[0]}.${text}`)).toBe('forged');
    }),
  );
  expect(read(header, HOP.at, Buffer.from('another'))).toBe('forged');
});

test('every changed character of a hop is noticed', () => {
  const header = writeHop(HOP, SECRET);
  const text = header.split('.')[0];
  for (let i = 0; i < text.length; i += 1) {
    const other = header[i] === 'A' ? 'B' : 'A';
    expect(read(header.slice(0, i) + other + header.slice(i + 1))).toBe('forged');
  }
});

test('a hop counts for a minute, also if one of the clocks is behind', () => {
  const header = writeHop(HOP, SECRET);

  expect(read(header, HOP.at + 60_000)).toEqual(HOP);
  expect(read(header, HOP.at - 60_000)).toEqual(HOP);
  expect(read(header, HOP.at + 60_001)).toBe('stale');
  expect(read(header, HOP.at - 60_001)).toBe('stale');
});

test('a request without the header has no hop', () => {
  expect(readHop({}, SECRET, 0)).toBeUndefined();
});
