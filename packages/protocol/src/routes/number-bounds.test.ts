import { expect, test } from 'vitest';
import type { Route } from '../base/route.ts';
import { ROUTES } from './routes.ts';

/** A JSON Schema: `Integer` accepts 1e300 unless it has a maximum. */
interface Schema {
  readonly type?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly [key: string]: unknown;
}

/** Places of numbers without bounds in a request. */
function unboundedNumbers(schema: unknown, place: string): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { type, minimum, maximum } = schema as Schema;
  const isNumber = type === 'integer' || type === 'number';
  const isBounded =
    Number.isSafeInteger(Math.ceil(minimum ?? Number.NaN)) &&
    Number.isSafeInteger(Math.ceil(maximum ?? Number.NaN));
  if (isNumber) return isBounded ? [] : [place];
  return Object.entries(schema).flatMap(([key, part]) => unboundedNumbers(part, `${place}/${key}`));
}

const REQUESTS = Object.entries<Route>(ROUTES).flatMap(([name, route]) =>
  (['params', 'query', 'body'] as const).flatMap((part) => {
    const schema = route[part];
    return typeof schema === 'object' ? [{ place: `${name}/${part}`, schema }] : [];
  }),
);

test.each(REQUESTS)('every number in $place has a lowest and a highest value', (request) => {
  expect(unboundedNumbers(JSON.parse(JSON.stringify(request.schema)), request.place)).toEqual([]);
});

test('a number without a maximum would be found', () => {
  const schema = { properties: { a: { type: 'integer', minimum: 0 }, b: { type: 'string' } } };

  expect(unboundedNumbers(schema, 'x')).toEqual(['x/properties/a']);
});
