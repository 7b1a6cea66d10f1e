import { openApiDocument } from '@sluice/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ApiDocument, bodyOperations } from './support/api-operations.ts';
import { conformingValues } from './support/conforming-values.ts';
import { conforms } from './support/json-schema.ts';

const DOCUMENT = JSON.parse(JSON.stringify(openApiDocument('1.2.3'))) as ApiDocument;

test.each(bodyOperations(DOCUMENT))('what is drawn for $name is allowed', ({ schema }) => {
  fc.assert(
    fc.property(conformingValues(schema), (body) => conforms(schema, body)),
    { numRuns: 20 },
  );
});

test('a keyword or a format that nobody knows is not passed over', () => {
  expect(() => conforms({ contains: {} } as object, [])).toThrow("'contains' is not known");
  expect(() => conforms({ format: 'ipv4' }, '')).toThrow("'ipv4' is not known");
});

test.each([
  [{ maxLength: 1 }, '😀', 'ab'],
  [{ pattern: '^.$' }, '😀', 'ab'],
  [{ multipleOf: 0.001 }, 0.003, 0.0035],
  [{ not: { required: ['a', 'b'] } }, { a: 1 }, { a: 1, b: 1 }],
  [{ oneOf: [{ required: ['a'] }, { required: ['b'] }] }, { b: 1 }, { a: 1, b: 1 }],
  [{ properties: { a: {} }, additionalProperties: false }, { a: 1 }, { b: 1 }],
  [{ dependentRequired: { a: ['b'] } }, { b: 1 }, { a: 1 }],
  [{ uniqueItems: true }, [1, 2], [1, 1]],
  [{ format: 'uri' }, 'http://a/b?c#d', 'http://a b'],
])('%j allows %j and forbids %j', (schema, allowed, forbidden) => {
  expect(conforms(schema, allowed)).toBe(true);
  expect(conforms(schema, forbidden)).toBe(false);
});
