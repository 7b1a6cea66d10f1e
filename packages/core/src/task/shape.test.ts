import { expect, test } from 'vitest';
import { hasThreeDecimals } from './resources.ts';
import { parseShape, shapeText } from './shape.ts';

test('a task that says nothing needs a single slot, and its shape is the empty text', () => {
  expect(shapeText({})).toBe('');
  expect(shapeText({ resources: {}, constraints: [] })).toBe('');
  expect(shapeText({ resources: { slots: 1, cpu: 0, custom: { x: 0 } } })).toBe('');
  expect(parseShape('')).toMatchObject({ resources: { slots: 1 }, constraints: [] });
});

test('slots is 1 even when other resources are given, unless stated', () => {
  const given = parseShape(shapeText({ resources: { cpu: 2, memoryMb: 2048 } }));
  const stated = parseShape(shapeText({ resources: { cpu: 2, slots: 3 } }));

  expect(stated.resources).toEqual({ cpu: 2, slots: 3 });
  expect(given.resources).toEqual({ cpu: 2, memoryMb: 2048, slots: 1 });
});

test('the same needs have the same text, however they were written', () => {
  const one = shapeText({
    resources: { gpu: 1, cpu: 0.5, custom: { b: 2, a: 1 } },
    constraints: ['zone in (us, eu)', 'exists ssd'],
  });
  const other = shapeText({
    resources: { custom: { a: 1, b: 2 }, cpu: 0.5, gpu: 1, slots: 1, diskMb: 0 },
    constraints: ['exists  ssd', 'zone in (eu,us)', 'exists ssd'],
  });

  expect(one).toBe(other);
  expect(shapeText({ resources: { cpu: 0.6 } })).not.toBe(shapeText({ resources: { cpu: 0.5 } }));
});

test('a shape comes back from its text as it was', () => {
  const spec = {
    resources: { cpu: 1.25, memoryMb: 512, diskMb: 1, gpu: 2, slots: 4, custom: { licence: 0.1 } },
    constraints: ['a != b', 'exists c'],
  };

  const shape = parseShape(shapeText(spec));

  expect(shape.resources).toEqual(spec.resources);
  expect(shape.constraintTexts).toEqual(spec.constraints);
  expect(shapeText({ resources: shape.resources, constraints: shape.constraintTexts })).toBe(
    shapeText(spec),
  );
});

test('amounts have at most three decimals', () => {
  expect([0, 1, 0.001, 0.1, 2.5, 99_999_999.999].map(hasThreeDecimals)).toEqual(
    Array.from({ length: 6 }, () => true),
  );
  expect([0.0001, 1.2345, 1 / 3].some(hasThreeDecimals)).toBe(false);
});
