import { Validator } from '@seriousme/openapi-schema-validator';
import { openApiDocument } from '@sluice/protocol';
import { expect, test } from 'vitest';

/** The document as a client receives it. */
function document(): Record<string, unknown> {
  return JSON.parse(JSON.stringify(openApiDocument('1.2.3')));
}

test('a validator of others accepts the document', async () => {
  expect(await new Validator().validate(document())).toEqual({ valid: true });
});

test('the same validator refuses a document that is not right', async () => {
  const wrong = { ...document(), info: { title: 'no version' } };
  expect(await new Validator().validate(wrong)).toMatchObject({ valid: false });
});
