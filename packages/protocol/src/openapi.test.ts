import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { describe, expect, test } from 'vitest';
import { withDocumented } from './base/documented.ts';
import { ERROR_CODES, type ErrorCode } from './base/error-codes.ts';
import { BYTES, type Route } from './base/route.ts';
import { openApiDocument } from './openapi.ts';
import { ROUTES } from './routes/routes.ts';

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema: unknown }>> };
  readonly security?: readonly object[];
  readonly responses: Readonly<Record<string, Answer>>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
}

interface Answer {
  readonly description: string;
  readonly content?: Readonly<Record<string, { schema: unknown }>>;
}

interface Document {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** The document as a client gets it. */
const DOCUMENT: Document = JSON.parse(JSON.stringify(openApiDocument('1.2.3')));

const ROUTE_LIST = Object.entries<Route>(ROUTES).map(([name, route]) => ({ name, route }));

test('the document says what it is', () => {
  expect(DOCUMENT).toMatchObject({ openapi: '3.1.0', info: { version: '1.2.3' } });
});

test('the document has the operations of all routes and no others', () => {
  const operations = Object.entries(DOCUMENT.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => `${operationId} ${method} ${path}`),
  );

  const expected = ROUTE_LIST.map(
    ({ name, route }) => `${name} ${route.method.toLowerCase()} ${route.path}`,
  );
  expect(operations.toSorted()).toEqual(expected.toSorted());
});

describe.each(ROUTE_LIST)('$name', ({ route }) => {
  const operation = DOCUMENT.paths[route.path][route.method.toLowerCase()];

  test('every parameter of the path is declared, and required', () => {
    const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);

    const declared = (operation.parameters ?? []).filter((each) => each.in === 'path');

    expect(declared.map((each) => each.name).toSorted()).toEqual(inPath.toSorted());
    expect(declared.every((each) => each.required)).toBe(true);
  });

  test('every parameter of the query is declared', () => {
    const declared = (operation.parameters ?? []).filter((each) => each.in === 'query');

    expect(declared.map((each) => each.name)).toEqual(propertiesOf(route.query));
  });

  test('the body is declared exactly when there is one', () => {
    if (route.body === BYTES) {
      expect(operation.requestBody?.content).toEqual({ [BYTES]: {} });
      return;
    }
    const schema = operation.requestBody?.content['application/json'].schema;

    expect(schema).toEqual(route.body === undefined ? undefined : plain(route.body));
  });

  test('every answer is declared with its content', () => {
    for (const [status, answer] of Object.entries(route.answers)) {
      const { content } = operation.responses[status];

      if (answer === 'none') expect(content).toBeUndefined();
      else if (typeof answer === 'string') expect(Object.keys(content ?? {})).toEqual([answer]);
      else expect(content?.['application/json'].schema).toEqual(plain(answer));
    }
  });

  test('every error is declared under its status, with the common shape', () => {
    const codes = codesOf(route);

    for (const code of codes) {
      const answer = operation.responses[ERROR_CODES[code].status];
      expect(answer.description.split(', ')).toContain(code);
      expect(answer.content?.['application/json'].schema).toEqual({
        $ref: '#/components/schemas/Error',
      });
    }
  });

  test('no status is declared that is neither an answer nor an error', () => {
    const codes = codesOf(route);
    const statuses = [
      ...Object.keys(route.answers),
      ...codes.map((code) => String(ERROR_CODES[code].status)),
    ];

    const declared = Object.keys(operation.responses);

    expect(declared.toSorted()).toEqual([...new Set(statuses)].toSorted());
  });
});

test('a call needs a key, or none at all, exactly when it is not open to everybody', () => {
  for (const { route } of ROUTE_LIST) {
    const { security } = DOCUMENT.paths[route.path][route.method.toLowerCase()];

    expect(security).toEqual(route.access === 'open' ? undefined : [{ key: [] }, {}]);
  }
});

test('every reference in the document leads somewhere', () => {
  const references = referencesIn(DOCUMENT);

  expect(references.length).toBeGreaterThan(0);
  for (const reference of references) expect(resolve(reference), reference).toBeTypeOf('object');
});

test('a reference that leads nowhere would be noticed', () => {
  const planted = { a: [{ $ref: '#/components/schemas/Nothing' }] };

  const references = referencesIn(planted);

  expect(references).toEqual(['#/components/schemas/Nothing']);
  expect(resolve(references[0])).toBeUndefined();
});

function codesOf({ access, errors }: Route): ErrorCode[] {
  const ofKeys = ['unauthenticated', 'forbidden', 'too_many_failures'] as const;
  const always = ['forbidden_origin', 'internal_error'] as const;
  return [...errors, ...always, ...(access === 'open' ? [] : ofKeys)];
}

function propertiesOf(schema: unknown): string[] {
  if (schema === undefined) return [];
  return Object.keys((schema as { properties: object }).properties);
}

function plain(schema: unknown): unknown {
  return withDocumented(schema as object);
}

function referencesIn(document: unknown): string[] {
  const found: string[] = [];
  JSON.stringify(document, (key, value: unknown) => {
    if (key === '$ref' && typeof value === 'string') found.push(value);
    return value;
  });
  return found;
}

/** What a JSON pointer inside the document points at. */
function resolve(reference: string): unknown {
  const [root, ...steps] = reference.split('/');
  if (root !== '#') return undefined;
  return steps.reduce<unknown>(
    (at, step) => (at as Record<string, unknown> | undefined)?.[step],
    DOCUMENT,
  );
}

describe('what only code checks', () => {
  const valid = (operationId: string, body: unknown): boolean => {
    const route = ROUTES[operationId as keyof typeof ROUTES] as Route;
    const operation = DOCUMENT.paths[route.path][route.method.toLowerCase()];
    const schema = operation.requestBody?.content['application/json'].schema;
    return Compile(schema as TSchema).Check(body);
  };

  test.each([
    ['submitTasks', { type: 'a', input: 1, inputBlob: 'a'.repeat(64) }],
    ['submitTasks', { type: 'a', runAt: 1, delayMs: 1 }],
    ['submitTasks', { type: 'a', runAt: 'tomorrow' }],
    ['submitTasks', { type: 'a', dedupeWindowMs: 5000 }],
    ['submitTasks', { type: 'a', retry: { delaysMs: [1], maxAttempts: 2 } }],
    ['cancelTasks', {}],
    ['cancelTasks', { ids: ['t_1'], filter: { type: 'a' } }],
    ['completeTask', { output: 1, outputBlob: 'a'.repeat(64) }],
    ['createKey', {}],
    ['createKey', { role: 'admin', replaces: 'k_1' }],
  ])('%s refuses %j, and the document says so', (operationId, body) => {
    expect(valid(operationId, body)).toBe(false);
  });

  test.each([
    ['submitTasks', { type: 'a', input: 1, runAt: '2030-01-01T00:00:00Z' }],
    ['submitTasks', { type: 'a', delayMs: 1, dedupeKey: 'k', dedupeWindowMs: 5000 }],
    ['cancelTasks', { ids: ['t_1'] }],
    ['createKey', { replaces: 'k_1', overlapMs: 5 }],
  ])('%s takes %j', (operationId, body) => {
    expect(valid(operationId, body)).toBe(true);
  });

  test('a body is optional exactly when an empty object would do', () => {
    for (const [operationId, route] of Object.entries<Route>(ROUTES)) {
      if (route.body === undefined || typeof route.body === 'string') continue;
      expect(valid(operationId, {}), operationId).toBe(route.isBodyOptional ?? false);
    }
  });
});
