import { expect, test } from 'vitest';
import { enteredValue, formFields } from './input-form.ts';

test('a schema of plain fields is a form', () => {
  const fields = formFields({
    type: 'object',
    properties: {
      file: { type: 'string', description: 'Name' },
      height: { type: 'integer' },
      quality: { type: 'string', enum: ['low', 'high'] },
    },
    required: ['file'],
  });

  expect(fields?.map(({ name, kind, isRequired }) => [name, kind, isRequired])).toEqual([
    ['file', 'text', true],
    ['height', 'number', false],
    ['quality', 'choice', false],
  ]);
});

test('any other schema is edited as JSON', () => {
  expect(formFields(undefined)).toBeUndefined();
  expect(formFields({ properties: { list: { type: 'array' } } })).toBeUndefined();
});

test('what is entered has the type of its field, and an empty text is no value', () => {
  expect(enteredValue({ kind: 'number' }, '7')).toBe(7);
  expect(enteredValue({ kind: 'boolean' }, 'false')).toBe(false);
  expect(enteredValue({ kind: 'text' }, '')).toBeUndefined();
});
