import { ROUTES, type Route, StatsQuery, TaskPatch, TaskRequest } from '@sluice/protocol';
import type { TSchema } from 'typebox';
import { expect, test } from 'vitest';
import { Checker } from './validation.ts';

test.each([
  [StatsQuery, { window: '1h' }, '/window', 'must be one of 10m, 24h, 30d'],
  [TaskRequest, { type: 'a b' }, '/type', 'must be 1 to 128 letters A to Z or a to z, digits and'],
  [TaskRequest, { type: 'a', exec: { command: [] } }, '/exec/command', 'fewer than 1 items'],
  [TaskRequest, { type: 'a', parentId: 'x' }, '/parentId', 'must be the id of a task, such as t_0'],
  [TaskRequest, { type: 'a', tags: { '': 'b' } }, '/tags/', 'names are 1 to 128 characters'],
  [
    TaskRequest,
    { type: 'a', resources: { custom: { 'a b': 1 } } },
    '/resources/custom/a b',
    'has a name that is not allowed: names are 1 to 64 letters',
  ],
  [TaskRequest, { type: 'a', tpye: 1 }, '/tpye', 'is not a known field'],
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

test('every pattern of a request has words, and no answer shows a pattern', () => {
  const without: unknown[] = [];
  const look = (name: string, part: unknown) => {
    // Code checks these, and says what is wrong.
    if (name === 'documented') return undefined;
    if (typeof part === 'object' && part !== null && 'pattern' in part && !('allowed' in part)) {
      without.push(part);
    }
    return part;
  };
  for (const { body, query, params } of Object.values<Route>(ROUTES)) {
    JSON.stringify([body, query, params], look);
  }

  expect(without).toEqual([]);
});

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
