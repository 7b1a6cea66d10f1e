import { expect, test } from 'vitest';
import { definitionSchemaProblems, schemasOf } from './definition-schemas.ts';

const OBJECT = { type: 'object' };

test('the schema itself and the form of Conductor are read', () => {
  const conductors = { name: 'order', version: 1, type: 'JSON', data: OBJECT };
  const definition = { inputSchema: OBJECT, outputSchema: conductors };

  expect(definitionSchemaProblems(definition)).toEqual([]);
  expect(schemasOf(definition)).toEqual({ input: OBJECT, output: OBJECT });
});

test('schemas that are not enforced are not looked at', () => {
  const definition = { inputSchema: { pattern: '(a+)+' }, enforceSchema: false };

  expect(definitionSchemaProblems(definition)).toEqual([]);
  expect(schemasOf(definition)).toEqual({ input: undefined, output: undefined });
});

test.each([
  ['a text', '', 'must be a JSON Schema, which is an object'],
  [{ type: 'AVRO', data: OBJECT }, '/type', 'must be "JSON"'],
  [{ name: 'order', version: 1, type: 'JSON' }, '/data', 'registered by name are not supported'],
  [{ type: 'thing' }, '/type', 'must be one of object, array'],
  [{ type: [] }, '/type', 'must be one of object, array'],
  [{ enum: [] }, '/enum', 'must be a list of 1 to 1000'],
  [{ enum: [{}] }, '/enum', 'must be a list of 1 to 1000'],
  [{ const: {} }, '/const', 'must be a text, a number'],
  [{ required: 'a' }, '/required', 'must be a list of field names'],
  [{ minLength: -1 }, '/minLength', 'must be a whole number from 0 on'],
  [{ maximum: '1' }, '/maximum', 'must be a number'],
  [{ multipleOf: 0 }, '/multipleOf', 'must be a number above 0'],
  [{ properties: [] }, '/properties', 'must be an object of schemas'],
  [{ properties: { 'a/b': 3 } }, '/properties/a~1b', 'must be a JSON Schema'],
  [{ items: [OBJECT] }, '/items', 'must be a JSON Schema'],
  [{ anyOf: [] }, '/anyOf', 'must be a list with at least one schema'],
  [{ not: { pattern: 'a' } }, '/not/pattern', 'is not supported here; use type, enum'],
  [{ $ref: 'https://example.com/a.json' }, '/$ref', 'must name a part of this schema'],
  [{ $ref: '#/$defs/a' }, '/$ref', 'names "a", which is not in $defs'],
  [{ $ref: '#/$defs/constructor', $defs: {} }, '/$ref', 'names "constructor"'],
])('%j is refused', (inputSchema, path, problem) => {
  expect(definitionSchemaProblems({ inputSchema })).toEqual([
    { path: `/inputSchema${path}`, problem: expect.stringContaining(problem) },
  ]);
});

test('a schema that is too large or too deep is refused', () => {
  const wide = { allOf: Array.from({ length: 2000 }, () => true) };
  let deep: object = {};
  for (let n = 0; n < 40; n++) deep = { not: deep };

  expect(definitionSchemaProblems({ inputSchema: wide })).toMatchObject([
    { path: '/inputSchema', problem: 'has more than 1000 parts' },
  ]);
  expect(definitionSchemaProblems({ inputSchema: deep })).toMatchObject([
    { problem: 'is nested more than 32 deep' },
  ]);
});

test('a definition from before schemas were checked has no schema that cannot be used', () => {
  expect(schemasOf({ inputSchema: { pattern: '(a+)+' }, outputSchema: OBJECT })).toEqual({
    input: undefined,
    output: OBJECT,
  });
});
