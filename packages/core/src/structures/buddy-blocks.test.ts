import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LimitError } from '../base/limit-error.ts';
import { BuddyBlocks } from './buddy-blocks.ts';

/** More than the memory that is added at once, and no power of two. */
const CAPACITY = 9000;

/** Takes and gives back at random; checks that no two blocks overlap. */
test('blocks in use never share a slot, are aligned, and all come back together', () => {
  const step = fc.record({ takes: fc.boolean(), slots: fc.integer({ min: 1, max: 1500 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), fc.nat(), (steps, seed) => {
      const blocks = new BuddyBlocks(CAPACITY);
      const owner = new Array<number>(CAPACITY).fill(0);
      const taken: { start: number; slots: number; id: number }[] = [];
      steps.forEach(({ takes, slots }, id) => {
        if (takes && blocks.hasRoomFor(slots)) {
          const expected = blocks.next(slots);
          const start = blocks.take(slots);
          expect(start).toBe(expected);
          expect(start % BuddyBlocks.sizeFor(slots)).toBe(0);
          expect(owner.slice(start, start + slots).every((each) => each === 0)).toBe(true);
          owner.fill(id + 1, start, start + slots);
          taken.push({ start, slots, id });
        } else if (taken.length > 0) {
          const [gone] = taken.splice(seed % taken.length, 1);
          blocks.giveBack(gone.start, gone.slots);
          owner.fill(0, gone.start, gone.start + gone.slots);
        }
      });
      for (const { start, slots } of taken) blocks.giveBack(start, slots);

      expect(blocks.inUse).toBe(0);
      for (let whole = 0; whole < 8; whole++) blocks.take(1024);
    }),
  );
});

test('a full memory has no room and says so', () => {
  const blocks = new BuddyBlocks(8);
  blocks.take(5);

  expect(blocks.hasRoomFor(1)).toBe(false);
  expect(() => blocks.next(1)).toThrow(LimitError);
  expect(() => blocks.take(1)).toThrow(LimitError);
});
