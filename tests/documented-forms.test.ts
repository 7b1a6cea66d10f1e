/** A text that has the form of the OpenAPI document is not refused for its form. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseConstraint } from '../packages/core/src/task/constraints.ts';
import { DOCUMENTED_TIME_PATTERN } from '../packages/protocol/src/base/time-pattern.ts';
import { timeProblems } from '../packages/protocol/src/rules/task-rules.ts';
import { CONSTRAINT_PATTERN } from '../packages/protocol/src/schemas/resource-schemas.ts';

test('a constraint of the documented form is taken', () => {
  const texts = fc.stringMatching(new RegExp(CONSTRAINT_PATTERN));

  fc.assert(
    fc.property(texts, (text) => {
      expect(parseConstraint(text)).toBeTypeOf('object');
    }),
  );
});

test('a constraint that is refused does not have the documented form', () => {
  const form = new RegExp(CONSTRAINT_PATTERN);

  for (const text of ['zone', 'zone == ', 'a b == c', 'zone in ()', 'zone == (a)', 'exists a b']) {
    expect(form.test(text), text).toBe(false);
    expect(parseConstraint(text), text).toBeTypeOf('string');
  }
  expect(form.test('zone in (eu west, us)')).toBe(true);
});

test('a time that exists and has the documented form is taken, from 1971 on', () => {
  const form = new RegExp(DOCUMENTED_TIME_PATTERN);
  const days = fc.date({
    min: new Date('1971-01-02'),
    max: new Date('9999-12-30'),
    noInvalidDate: true,
  });
  const zones = fc.constantFrom('Z', '+09:36', '-11:00');

  fc.assert(
    fc.property(days, zones, (day, zone) => {
      const text = `${day.toISOString().slice(0, -1)}${zone}`;
      expect(form.test(text)).toBe(true);
      expect(timeProblems(text, '/runAt')).toEqual([]);
    }),
  );
  expect(form.test('0651-10-17T18:25:05Z')).toBe(false);
  expect(timeProblems('0651-10-17T18:25:05Z', '/runAt')).toHaveLength(1);
});
