import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  decodeFrame,
  decodeSegmentHeader,
  encodeFrame,
  encodeSegmentHeader,
  findFrame,
  frameBytesFor,
} from './segment-format.ts';
import { formatSegmentName, parseSegmentName } from './segment-name.ts';

const SEGMENT = { partition: 0, epoch: 3, baseTail: 10, segmentId: 0xfeedbeef };
const uint32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });

function frameOf(bytes: Uint8Array, segment = SEGMENT): Buffer {
  const target = Buffer.alloc(frameBytesFor(bytes.length), 0xcc);
  const batch = { epoch: segment.epoch, expectedTail: 10, nonce: 5, recordCount: 2, bytes };
  encodeFrame(target, segment.segmentId, batch);
  return target;
}

test('a header is read back as it was written', () => {
  const headers = fc.record({
    partition: uint32,
    epoch: uint32,
    baseTail: fc.maxSafeNat(),
    segmentId: uint32,
  });
  fc.assert(
    fc.property(headers, (header) => {
      const reading = decodeSegmentHeader(encodeSegmentHeader(header));
      expect(reading).toEqual({ kind: 'valid', header });
    }),
  );
});

test('no flipped bit of a header goes unseen', () => {
  for (let bit = 0; bit < 64 * 8; bit += 1) {
    const bytes = encodeSegmentHeader(SEGMENT);
    bytes[bit >> 3] ^= 1 << (bit & 7);

    expect(decodeSegmentHeader(bytes).kind).not.toBe('valid');
  }
});

test('a frame is read back as it was written, and is aligned', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (payload) => {
      const frame = decodeFrame(frameOf(payload), 0, SEGMENT);

      expect(frame!.frameBytes % 8).toBe(0);
      expect(frame).toMatchObject({ firstRecord: 10, recordCount: 2, epoch: 3, nonce: 5 });
      expect(Buffer.from(frame!.bytes)).toEqual(Buffer.from(payload));
    }),
  );
});

test('no flipped bit of a frame goes unseen', () => {
  const frame = frameOf(Buffer.from('some payload'));
  for (let bit = 0; bit < frame.length * 8; bit += 1) {
    const bytes = Buffer.from(frame);
    bytes[bit >> 3] ^= 1 << (bit & 7);

    expect(decodeFrame(bytes, 0, SEGMENT)).toBeUndefined();
  }
});

test('a frame of another segment or epoch is none', () => {
  const frame = frameOf(Buffer.from('x'));

  expect(decodeFrame(frame, 0, { ...SEGMENT, segmentId: 1 })).toBeUndefined();
  expect(decodeFrame(frame, 0, { ...SEGMENT, epoch: 4 })).toBeUndefined();
});

test('a frame is found behind anything, but only where frames can start', () => {
  const frame = frameOf(Buffer.from('x'));
  const noise = Buffer.from('SLBF, SLBF, and zeros...');

  const find = (bytes: Buffer, offset: number) => findFrame(bytes, { offset, record: 0 }, SEGMENT);
  expect(find(Buffer.concat([noise, frame]), 0)).toBe(24);
  expect(find(Buffer.concat([noise, frame]), 25)).toBeUndefined();
  expect(find(Buffer.concat([noise.subarray(1), frame]), 0)).toBeUndefined();
});

test('a frame is found only if its records follow', () => {
  const frame = frameOf(Buffer.from('x'));
  const { firstRecord } = decodeFrame(frame, 0, SEGMENT)!;

  const find = (record: number) => findFrame(frame, { offset: 0, record }, SEGMENT);

  expect(find(firstRecord - 1)).toBe(0);
  expect(find(firstRecord)).toBeUndefined();
});

test('the order of names is the order of the log', () => {
  const names = fc.record({ baseTail: fc.maxSafeNat(), epoch: uint32 });
  fc.assert(
    fc.property(names, names, (a, b) => {
      const inLogOrder = a.baseTail - b.baseTail || a.epoch - b.epoch;
      const [nameA, nameB] = [formatSegmentName(a), formatSegmentName(b)];
      expect(Math.sign(inLogOrder)).toBe(nameA < nameB ? -1 : Number(nameA > nameB));
      expect(parseSegmentName(nameA)).toEqual(a);
    }),
  );
});

test.each(['next.tmp', '5-1.log', '0000000000000000-0000000001.log.old'])(
  'the file %s is no segment',
  (file) => {
    expect(parseSegmentName(file)).toBeUndefined();
  },
);
