import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Arena, copyBytes } from './arena.ts';

const CHUNK_BYTES = 32;

test('a payload is read back from where it was put', () => {
  const arena = new Arena(CHUNK_BYTES);
  const source = Uint8Array.from([9, 1, 2, 3, 9]);

  const reference = arena.put(source, 1, 4);

  source.fill(0);
  expect(read(arena, { reference, length: 3 })).toEqual([1, 2, 3]);
  expect(arena.liveBytes).toBe(3);
});

test('a payload that does not fit behind the last one opens another chunk', () => {
  const arena = new Arena(CHUNK_BYTES);

  const first = put(arena, 20, 1);
  const second = put(arena, 13, 2);

  expect(arena.chunkCount).toBe(2);
  expect(read(arena, first)).toEqual(first.content);
  expect(read(arena, second)).toEqual(second.content);
});

test('payloads that fill a chunk to its last byte share it', () => {
  const arena = new Arena(CHUNK_BYTES);

  put(arena, 20, 1);
  put(arena, 12, 2);

  expect(arena.chunkCount).toBe(1);
});

test('a chunk whose payloads were all released takes new ones', () => {
  const arena = new Arena(CHUNK_BYTES);
  const first = put(arena, 30, 1);
  const second = put(arena, 30, 2);
  arena.release(first.reference, 30);

  const third = put(arena, 30, 3);

  expect(arena.chunkCount).toBe(2);
  expect(read(arena, second)).toEqual(second.content);
  expect(read(arena, third)).toEqual(third.content);
});

test('the chunk that takes new payloads starts over once it is empty', () => {
  const arena = new Arena(CHUNK_BYTES);

  for (let round = 0; round < 10; round++) {
    const payload = put(arena, 20, round);
    arena.release(payload.reference, 20);
  }

  expect(arena.chunkCount).toBe(1);
  expect(arena.liveBytes).toBe(0);
});

test('a payload larger than a chunk breaks an invariant', () => {
  const arena = new Arena(CHUNK_BYTES);

  expect(() => put(arena, CHUNK_BYTES + 1, 1)).toThrow('fits into one arena chunk');
});

test('no live payload is ever overwritten, and liveBytes is their sum (A1)', () => {
  const actions = fc.array(
    fc.oneof(
      fc.record({ put: fc.integer({ min: 1, max: CHUNK_BYTES }) }),
      fc.record({ release: fc.nat(50) }),
    ),
    { maxLength: 120, size: 'max' },
  );
  fc.assert(
    fc.property(actions, (list) => {
      const arena = new Arena(CHUNK_BYTES);
      const live: Payload[] = [];

      list.forEach((action, index) => {
        if ('put' in action) live.push(put(arena, action.put, index));
        else releaseOne(arena, live, action.release);

        for (const payload of live) expect(read(arena, payload)).toEqual(payload.content);
        expect(arena.liveBytes).toBe(live.reduce((sum, payload) => sum + payload.length, 0));
      });
    }),
    { numRuns: 60 },
  );
});

test('an arena whose payloads come and go in order stays small', () => {
  const arena = new Arena(CHUNK_BYTES);
  const live: Payload[] = [];

  for (let round = 0; round < 500; round++) {
    live.push(put(arena, 1 + (round % 20), round));
    if (live.length > 4) releaseOne(arena, live, 0);
  }

  expect(arena.chunkCount).toBeLessThanOrEqual(6);
});

test('short and long copies take exactly the range', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(200), fc.nat(10), (source, cut, at) => {
      const start = Math.min(cut, source.length);
      const target = new Uint8Array(220).fill(255);

      copyBytes(source, start, source.length, { target, at });

      const expected = new Uint8Array(220).fill(255);
      expected.set(source.slice(start), at);
      expect(target).toEqual(expected);
    }),
  );
});

interface Payload {
  readonly reference: number;
  readonly length: number;
  readonly content: readonly number[];
}

function put(arena: Arena, length: number, seed: number): Payload {
  const content = Array.from({ length }, (_, index) => (seed * 31 + index) % 251);
  const reference = arena.put(Uint8Array.from([7, ...content, 7]), 1, length + 1);
  return { reference, length, content };
}

function read(arena: Arena, payload: { reference: number; length: number }): number[] {
  const start = arena.startOf(payload.reference);
  return [...arena.bytesOf(payload.reference).subarray(start, start + payload.length)];
}

function releaseOne(arena: Arena, live: Payload[], choice: number): void {
  if (live.length === 0) return;
  const [payload] = live.splice(choice % live.length, 1);
  arena.release(payload.reference, payload.length);
}
