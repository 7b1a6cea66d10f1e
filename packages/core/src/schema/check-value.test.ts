import { expect, test } from 'vitest';
import { valueProblems } from './check-value.ts';
import { schemaProblems } from './read-schema.ts';
import type { Schema } from './schema-form.ts';

const ORDER: Schema = {
  type: 'object',
  required: ['amount', 'lines'],
  additionalProperties: false,
  properties: {
    amount: { type: 'number', minimum: 1, multipleOf: 0.5 },
    speed: { enum: ['normal', 'express'] },
    lines: { type: 'array', minItems: 1, items: { $ref: '#/$defs/line' } },
  },
  $defs: { line: { type: 'object', properties: { sku: { type: 'string', maxLength: 4 } } } },
};

test('a value that fits has no problems', () => {
  expect(schemaProblems(ORDER, '')).toEqual([]);
  expect(valueProblems(ORDER, { amount: 1.5, lines: [{ sku: 'äöü𝄞' }] })).toEqual([]);
});

test('every field that does not fit is named with what is allowed', () => {
  const value = { amount: 0.7, speed: 'slow', lines: [{ sku: 'abcde' }, 3], 'a/b': 1 };

  expect(valueProblems(ORDER, value, '/input')).toEqual([
    { path: '/input/amount', problem: 'must be >= 1' },
    { path: '/input/amount', problem: 'must be a multiple of 0.5' },
    { path: '/input/speed', problem: 'must be one of "normal", "express"' },
    { path: '/input/lines/0/sku', problem: 'must have at most 4 characters' },
    { path: '/input/lines/1', problem: 'must be object' },
    { path: '/input/a~1b', problem: 'is not allowed; the fields are amount, speed, lines' },
  ]);
  expect(valueProblems(ORDER, {})).toEqual([
    { path: '/amount', problem: 'is required' },
    { path: '/lines', problem: 'is required' },
  ]);
});

test.each<[Schema, unknown, string | undefined]>([
  [true, 1, undefined],
  [false, 1, 'is not allowed'],
  [{ type: ['string', 'null'] }, null, undefined],
  [{ type: ['string', 'null'] }, 1, 'must be string or null'],
  [{ type: 'integer' }, 1.5, 'must be integer'],
  [{ type: 'object' }, [], 'must be object'],
  [{ const: null }, 0, 'must be null'],
  [{ exclusiveMinimum: 1 }, 1, 'must be > 1'],
  [{ exclusiveMaximum: 1 }, 1, 'must be < 1'],
  [{ maximum: 1 }, 2, 'must be <= 1'],
  [{ minLength: 1 }, '', 'must have at least 1 characters'],
  [{ maxItems: 1 }, [1, 2], 'must have at most 1 items'],
  [{ minProperties: 1 }, {}, 'must have at least 1 fields'],
  [{ maxProperties: 0 }, { a: 1 }, 'must have at most 0 fields'],
  [
    { anyOf: [{ type: 'null' }, { minimum: 3 }] },
    2,
    'must fit one of {"type":"null"}, {"minimum":3}',
  ],
  [{ oneOf: [true, true] }, 2, 'must fit exactly one of true, true, and fits 2'],
  [{ not: { type: 'null' } }, null, 'must not fit {"type":"null"}'],
  [{ allOf: [{ minimum: 3 }] }, 2, 'must be >= 3'],
  [{ additionalProperties: { type: 'null' } }, { constructor: 1 }, 'must be null'],
])('%j with %j: %s', (schema, value, problem) => {
  expect(schemaProblems(schema, '')).toEqual([]);
  expect(valueProblems(schema, value)[0]?.problem).toBe(problem);
});

test('a schema that names itself follows the value, within a bound', () => {
  const tree: Schema = {
    $ref: '#/$defs/node',
    $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
  };
  let deep: object = {};
  for (let n = 0; n < 500; n++) deep = { next: deep };

  expect(valueProblems(tree, { next: { next: {} } })).toEqual([]);
  expect(valueProblems(tree, { next: { next: 1 } })).toMatchObject([{ path: '/next/next' }]);
  expect(valueProblems(tree, deep)[0].problem).toBe('is nested more than 100 deep');
});

test('a schema that would take time without end is stopped', () => {
  const endless: Schema = { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } };
  const twice = { anyOf: [{ $ref: '#/$defs/b' }, { $ref: '#/$defs/b' }] };
  const bomb: Schema = { $ref: '#/$defs/b', $defs: { b: { ...twice, not: true } } };
  const nulls = Array.from({ length: 900 }, () => ({ type: 'null' }));
  const wide: Schema = { items: { anyOf: [...nulls, { type: 'number' }] } };

  expect(valueProblems(endless, 1)[0].problem).toContain('deep');
  expect(valueProblems(bomb, 1)[0].problem).toContain('deep');
  expect(valueProblems(wide, new Array(1000).fill(1))[0].problem).toContain('takes too long');
});

test('an answer has at most 50 problems, with short paths', () => {
  const many = valueProblems({ items: { type: 'null' } }, new Array(1000).fill(1));
  const name = 'x'.repeat(100_000);
  const [long] = valueProblems({ additionalProperties: false }, { [name]: 1 });

  expect(many).toHaveLength(50);
  expect(long.path.length).toBeLessThan(200);
});
