import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Resources } from '../task/resources.ts';
import { parseShape, type Shape, shapeText } from '../task/shape.ts';
import { Room } from './room.ts';

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

test('a shape costs the share of the offer that it takes, more as a kind runs out', () => {
  const room = roomOf({ slots: 10, cpu: 4, custom: { licence: 5 } });
  const shapes = [{}, { cpu: 1 }, { memoryMb: 1e6 }, { custom: { licence: 1 } }].map(shape);

  const before = shapes.map((each) => room.costOf(each));
  room.take(shape({ cpu: 2, custom: { licence: 1 } }));
  const after = shapes.map((each) => room.costOf(each));

  expect(before).toEqual([0.1, 0.25, 0.1, 0.2]);
  const slot = expect.closeTo(0.1 / 0.9 ** 3, 9);
  expect(after).toEqual([slot, 0.25 * 8, slot, expect.closeTo(0.2 / 0.8 ** 3, 9)]);
});

describe('a shape fills a room the better', () => {
  const offer = { slots: 100, cpu: 10, memoryMb: 10, custom: { licence: 10 } };
  const cpu = shape({ cpu: 1 });

  test('the fuller it is already', () => {
    expect(roomWith(offer, 4, cpu).fillingWith(cpu)).toBeGreaterThan(
      roomWith(offer, 3, cpu).fillingWith(cpu),
    );
  });

  test.each([{ memoryMb: 1 }, { custom: { licence: 1 } }])(
    'the more it needs kinds that are not in use: %o',
    (resources) => {
      const other = shape(resources);

      expect(roomWith(offer, 3, cpu).fillingWith(other)).toBeGreaterThan(
        roomWith(offer, 4, other).fillingWith(other),
      );
    },
  );

  test('the more it needs the kinds as they are offered', () => {
    const even = shape({ cpu: 1, memoryMb: 1 });

    expect(roomOf(offer).fillingWith(even)).toBeGreaterThan(
      roomOf({ ...offer, memoryMb: 40 }).fillingWith(even),
    );
  });
});

test('needs given back in any order leave exactly nothing in use (room.sum-of-needs)', () => {
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

function roomWith(offer: Resources & { slots: number }, count: number, each: Shape): Room {
  const room = roomOf(offer);
  for (let n = 0; n < count; n++) room.take(each);
  return room;
}

function shape(resources: Resources): Shape {
  return parseShape(shapeText({ resources }));
}
