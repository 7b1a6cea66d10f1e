import { ROUTES, type Route, StatsQuery, TaskPatch, TaskRequest } from '@sluice/protocol';
import type { TSchema } from 'typebox';
import { expect, test } from 'vitest';
import { Checker } from './validation.ts';

test.each([
  [StatsQuery, { window: '1h' }, '/window', 'must be one of 10m, 24h, 30d'],
  [TaskRequest, { type: 'a b' }, '/type', 'must match ^(?!(?:command|container)$)'],
  [TaskPatch, { priority: 'high' }, '/priority', 'must be a whole number from 0 to 8 or null'],
  [
    TaskRequest,
    { type: 'a', callback: { url: 'http://a', on: ['x'] } },
    '/callback/on/0',
    'must be one of running, succeeded, failed, timed_out, expired, cancelled',
  ],
] as [TSchema, object, string, string][])(
  '%# names what is allowed',
  (schema, value, path, says) => {
    expect(new Checker(schema).problems(value)).toEqual([
      { path, problem: expect.stringContaining(says) },
    ]);
  },
);

/** A value that no schema accepts anywhere. */
const STRANGE = { strange: Symbol('x') };

test('no problem of any request is without words', () => {
  const schemas = Object.values<Route>(ROUTES).flatMap(({ body, query }) => {
    return [body, query].filter((each) => each !== undefined && typeof each !== 'string');
  });

  for (const schema of schemas as TSchema[]) {
    const { properties = {} } = schema as { properties?: object };
    const value = Object.fromEntries(Object.keys(properties).map((name) => [name, STRANGE]));
    const problems = new Checker(schema).problems(value).map(({ problem }) => problem);
    expect(problems.join('\n')).not.toMatch(/undefined|anyOf|constant|allowed forms/);
  }
});
