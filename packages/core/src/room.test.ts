import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Resources } from './resources.ts';
import { Room } from './room.ts';
import { parseShape, type Shape, shapeText } from './shape.ts';

test('cpu, memoryMb, diskMb that are not stated are unlimited; gpu and custom are 0', () => {
  const room = roomOf({ slots: 10 });

  expect(room.fits(shape({ cpu: 1e6, memoryMb: 1e6, diskMb: 1e6 }))).toBe(true);
  expect(room.fits(shape({ gpu: 1 }))).toBe(false);
  expect(room.fits(shape({ custom: { licence: 0.001 } }))).toBe(false);
});

test('of a kind that is stated as 0 there is none', () => {
  const room = roomOf({ slots: 10, cpu: 0, gpu: 0 });

  expect([room.fits(shape({ cpu: 0.001 })), room.fits(shape({}))]).toEqual([false, true]);
});

test('capacity is the total offer, replaced whole', () => {
  const room = roomOf({ slots: 10, cpu: 4, gpu: 1, custom: { licence: 1 } });
  room.take(shape({ cpu: 2 }));

  room.offer({ slots: 2, memoryMb: 100 });

  expect(room.fits(shape({ cpu: 1e6 }))).toBe(true);
  expect(room.fits(shape({ memoryMb: 101 }))).toBe(false);
  expect(room.fits(shape({ gpu: 1 }))).toBe(false);
  expect(room.fits(shape({ custom: { licence: 1 } }))).toBe(false);
  expect(room.fits(shape({ slots: 2 }))).toBe(false);
});

test('a worker that offers less than it uses gets nothing until enough is given back', () => {
  const room = roomOf({ slots: 10, cpu: 4, memoryMb: 1000 });
  room.take(shape({ cpu: 3 }));
  room.take(shape({ memoryMb: 900 }));

  room.offer({ slots: 10, cpu: 2, memoryMb: 1000 });

  expect([room.isOverdrawn, room.fits(shape({}))]).toEqual([true, false]);
  room.giveBack(shape({ memoryMb: 900 }));
  expect(room.fits(shape({}))).toBe(false);
  room.giveBack(shape({ cpu: 3 }));
  expect([room.isOverdrawn, room.fits(shape({ cpu: 2 }))]).toEqual([false, true]);
});

test('a kind that is overdrawn keeps away also what does not need it', () => {
  const room = roomOf({ slots: 10, custom: { licence: 2 } });
  room.take(shape({ custom: { licence: 2 } }));

  room.offer({ slots: 10, custom: { licence: 1 } });

  expect([room.hasSlot, room.fits(shape({}))]).toEqual([false, false]);
  room.giveBack(shape({ custom: { licence: 2 } }));
  expect([room.hasSlot, room.fits(shape({}))]).toEqual([true, true]);
});

test('a shape that needs more than there is in all could never fit', () => {
  const room = roomOf({ slots: 2, cpu: 4 });
  room.take(shape({ cpu: 4 }));

  expect([room.fits(shape({ cpu: 4 })), room.couldFit(shape({ cpu: 4 }))]).toEqual([false, true]);
  expect([room.couldFit(shape({ cpu: 5 })), room.couldFit(shape({ slots: 3 }))]).toEqual([
    false,
    false,
  ]);
});

test('fullness is the largest share of any kind that would be in use', () => {
  const room = roomOf({ slots: 10, cpu: 4 });

  expect(room.fullnessWith(shape({}))).toBe(0.1);
  expect(room.fullnessWith(shape({ cpu: 3 }))).toBe(0.75);
  expect(room.fullnessWith(shape({ memoryMb: 5 }))).toBe(0.1);
  room.take(shape({ cpu: 2 }));
  expect(room.fullnessWith(shape({}))).toBe(0.5);
});

test('what was taken and given back in any order leaves exactly nothing in use (R2)', () => {
  const needs = fc.record({
    cpu: fc.integer({ min: 1, max: 9999 }).map((n) => n / 1000),
    custom: fc.record({ x: fc.integer({ min: 1, max: 999 }).map((n) => n / 1000) }),
  });
  fc.assert(
    fc.property(fc.array(needs, { minLength: 1, maxLength: 30 }), (list) => {
      const shapes = list.map(shape);
      const sum = list.reduce((total, each) => total + Math.round(each.cpu * 1000), 0);
      const room = roomOf({ slots: 30, cpu: sum / 1000, custom: { x: 100 } });

      for (const each of shapes) room.take(each);
      const isFull = !room.fits(shape({ cpu: 0.001, slots: 1 }));
      for (const each of shapes.toReversed()) room.giveBack(each);

      expect(isFull).toBe(true);
      expect(room.fits(shape({ cpu: sum / 1000, custom: { x: 100 }, slots: 30 }))).toBe(true);
    }),
  );
});

function roomOf(offer: Resources & { slots: number }): Room {
  const room = new Room();
  room.offer(offer);
  return room;
}

function shape(resources: Resources): Shape {
  return parseShape(shapeText({ resources }));
}
