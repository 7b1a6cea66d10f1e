import type { FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import { authorOf, LOCAL_CALLER } from './caller.ts';

test('what a record says of a request has a bound', () => {
  const request = { caller: LOCAL_CALLER, raw: {}, id: 'q_1' } as FastifyRequest;

  const { subject, detail } = authorOf(request, 'x'.repeat(1e6), 'y'.repeat(1e6));

  expect([subject.length, detail.length]).toEqual([256, 256]);
});
