import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ARENA_SLACK_CHUNKS, HEADER_BYTES, SLOTS, TestArena } from '../testing/test-arena.ts';
import { copyBytes } from './arena.ts';

const CHUNK_BYTES = 64;
/** With its header it fills a whole chunk. */
const LARGEST = CHUNK_BYTES - HEADER_BYTES;

test('a payload is read back from where it was stored', () => {
  const arena = new TestArena(CHUNK_BYTES);
  const source = Uint8Array.from([9, 1, 2, 3, 9]);

  arena.storeBytes(0, 5, { bytes: source, start: 1, end: 4 });

  source.fill(0);
  expect(arena.read(0, 5)).toEqual([1, 2, 3]);
  expect(arena.liveBytes).toBe(3);
});

test('a payload that does not fit behind the last one opens another chunk', () => {
  const arena = new TestArena(CHUNK_BYTES);

  arena.store(0, 0, LARGEST);
  arena.store(1, 0, 1);

  expect(arena.chunkCount).toBe(2);
  arena.expectAll();
});

test('payloads that fill a chunk to its last byte share it', () => {
  const arena = new TestArena(CHUNK_BYTES);

  arena.store(0, 0, 20);
  arena.store(0, 1, CHUNK_BYTES - 20 - 2 * HEADER_BYTES);

  expect(arena.chunkCount).toBe(1);
  arena.expectAll();
});

test('what an owner had is replaced', () => {
  const arena = new TestArena(CHUNK_BYTES);
  arena.store(0, 0, 20);

  arena.store(0, 0, 10);

  expect(arena.liveBytes).toBe(10);
  arena.expectAll();
});

test('an empty payload replaces the one before and takes nothing', () => {
  const arena = new TestArena(CHUNK_BYTES);
  arena.store(0, 0, 20);

  arena.store(0, 0, 0);

  expect([arena.liveBytes, arena.read(0, 0)]).toEqual([0, []]);
});

test('all payloads of a slot are released together, and no others', () => {
  const arena = new TestArena(CHUNK_BYTES);
  for (const column of [0, 1]) for (const slot of [0, 1]) arena.store(column, slot, 10);

  arena.releaseAll(1);

  expect(arena.liveBytes).toBe(20);
  arena.expectAll();
});

test('a chunk whose payloads were all released takes new ones', () => {
  const arena = new TestArena(CHUNK_BYTES);
  arena.store(0, 0, LARGEST);
  arena.store(0, 1, LARGEST);
  arena.releaseAll(0);

  arena.store(0, 2, LARGEST);

  expect(arena.chunkCount).toBe(2);
  arena.expectAll();
});

test('the chunk that takes new payloads starts over once it is empty', () => {
  const arena = new TestArena(CHUNK_BYTES);

  for (let round = 0; round < 10; round++) {
    arena.store(0, 0, LARGEST);
    arena.releaseAll(0);
  }

  expect(arena.chunkCount).toBe(1);
  expect(arena.liveBytes).toBe(0);
});

test('empty chunks beyond the reserve are given back, and taken anew when they are needed', () => {
  const arena = new TestArena(CHUNK_BYTES);
  const fill = (): void => {
    for (let slot = 0; slot < 10; slot++) arena.store(0, slot, LARGEST);
  };
  for (let round = 0; round < 20; round++) {
    fill();
    expect(arena.chunkCount).toBe(10);
    for (let slot = 0; slot < 10; slot++) arena.releaseAll(slot);
    expect(arena.chunkCount).toBe(3);
  }

  fill();

  arena.expectAll();
  expect(arena.highestChunk).toBe(9);
});

test('a payload larger than a chunk breaks an invariant', () => {
  const arena = new TestArena(CHUNK_BYTES);

  expect(() => arena.store(0, 0, LARGEST + 1)).toThrow('fits into one arena chunk');
});

test('one survivor in each of many chunks leaves few chunks behind (arena.bounded-compact)', () => {
  const arena = new TestArena(CHUNK_BYTES);
  for (let slot = 0; slot < SLOTS; slot++) arena.store(0, slot, slot % 3 === 0 ? 4 : 20);
  releaseAllBut(arena, 3);
  const before = arena.chunkCount;

  arena.compactFully();

  // Each chunk had room for three; the twenty live payloads, of nine bytes each, fill three chunks.
  expect(before).toBe(20);
  expect(arena.chunkCount).toBeLessThanOrEqual(3 * 2 + ARENA_SLACK_CHUNKS);
  arena.expectAll();
});

test('an arena of which half is live is left as it is', () => {
  const arena = new TestArena(CHUNK_BYTES);
  for (let slot = 0; slot < SLOTS; slot++) arena.store(0, slot, 27);
  for (let slot = 0; slot < SLOTS; slot += 2) arena.releaseAll(slot);
  const places = arena.references();

  arena.compactFully();

  expect(arena.references()).toEqual(places);
});

test('a step does as much as was released since the last one and as time has passed', () => {
  const arena = new TestArena(CHUNK_BYTES, { entriesMax: 7, bytesMax: 1000 });
  for (let slot = 0; slot < SLOTS; slot++) arena.store(0, slot, 4);
  releaseAllBut(arena, 6);

  const first = arena.compact(0);
  const later = Array.from({ length: 100 }, () => arena.compact(0));
  const afterwards = arena.compact(1);

  expect(first).toBeGreaterThan(0);
  expect(later).toEqual(later.map(() => 0));
  expect(afterwards).toBeGreaterThan(0);
});

test('a step moves no more than four times the bytes that were released', () => {
  const arena = new TestArena(CHUNK_BYTES, { entriesMax: 1, bytesMax: 1000 });
  for (let slot = 0; slot < SLOTS; slot++) arena.store(0, slot, slot % 6 === 0 ? 12 : 4);
  releaseAllBut(arena, 6);
  arena.compact(0);
  arena.setRule({ liveShareMin: 1, slackChunks: 0, entriesMax: 1000, bytesMax: 1000 });
  for (let round = 0; round < 10; round++) {
    arena.store(0, 1, 1);
    arena.releaseAll(1);
  }

  const moved = arena.compact(0);

  expect(moved).toBe(3);
});

test('a payload that is longer than a step may move is moved by itself', () => {
  const arena = new TestArena(CHUNK_BYTES, { entriesMax: 100, bytesMax: 1 });
  for (let slot = 0; slot < SLOTS; slot++) arena.store(0, slot, 10);
  releaseAllBut(arena, 6);
  const places = arena.references();

  arena.compact(1000);

  const moved = arena.references().filter((place, index) => place !== places[index]);
  expect(moved).toHaveLength(1);
});

/** Mostly short payloads, so that a chunk can hold both live and dead ones. */
const lengths = fc.oneof({ weight: 4, arbitrary: fc.nat(12) }, fc.nat(LARGEST));
const owners = {
  column: fc.nat(1),
  from: fc.nat(SLOTS - 9),
  count: fc.integer({ min: 1, max: 8 }),
};
const actions = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ ...owners, store: lengths }) },
    { weight: 2, arbitrary: fc.record({ release: fc.nat(SLOTS - 1) }) },
    { weight: 1, arbitrary: fc.record({ releaseAllBut: fc.integer({ min: 2, max: 9 }) }) },
    { weight: 3, arbitrary: fc.record({ compactAfterMs: fc.constantFrom(0, 0, 1) }) },
  ),
  { minLength: 50, maxLength: 150, size: 'max' },
);
const bounds = fc.record({
  entriesMax: fc.integer({ min: 1, max: 6 }),
  bytesMax: fc.integer({ min: 1, max: 80 }),
});

// The rules of the arena (arena.live-bytes, arena.bounded-compact).
test('whatever is moved, each owner has its bytes and memory follows what is live', () => {
  let moves = 0;
  fc.assert(
    fc.property(actions, bounds, (list, step) => {
      const arena = new TestArena(CHUNK_BYTES, step);

      for (const action of list) {
        if ('store' in action) storeSome(arena, action);
        else if ('release' in action) arena.releaseAll(action.release);
        else if ('releaseAllBut' in action) releaseAllBut(arena, action.releaseAllBut);
        else moves += arena.compact(action.compactAfterMs);
        arena.expectAll();
      }
      moves += arena.compactFully();

      arena.expectAll();
      const chunks = (2 * arena.liveRoom) / CHUNK_BYTES + ARENA_SLACK_CHUNKS;
      expect(arena.chunkCount).toBeLessThanOrEqual(chunks);
    }),
    { numRuns: 100 },
  );

  expect(moves).toBeGreaterThan(100);
});

test('an arena whose payloads come and go in order stays small without a step', () => {
  const arena = new TestArena(CHUNK_BYTES);

  for (let round = 0; round < 500; round++) {
    arena.store(0, round % 20, 1 + (round % 20));
    if (round >= 4) arena.releaseAll((round - 4) % 20);
  }

  expect(arena.chunkCount).toBeLessThanOrEqual(6);
});

test('steps keep up with payloads that come and go out of order', () => {
  const arena = new TestArena(CHUNK_BYTES);

  for (let round = 0; round < 3000; round++) {
    // Every tenth payload stays for long; the others are replaced soon.
    const slot = round % 10 === 0 ? 10 + ((round / 10) % 10) : round % 10;
    arena.store(round % 2, slot, 1 + (round % 20));
    arena.compact(0);
    const chunks = (2 * arena.liveRoom) / CHUNK_BYTES + ARENA_SLACK_CHUNKS + 1;
    expect(arena.chunkCount).toBeLessThanOrEqual(chunks);
  }
  arena.expectAll();
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

/** One slot in `each` keeps its payloads. */
function releaseAllBut(arena: TestArena, each: number): void {
  for (let slot = 0; slot < SLOTS; slot++) if (slot % each > 0) arena.releaseAll(slot);
}

function storeSome(
  arena: TestArena,
  { column, from, count, store }: { column: number; from: number; count: number; store: number },
): void {
  for (let slot = from; slot < from + count; slot++) arena.store(column, slot, store);
}
