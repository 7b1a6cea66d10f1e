import { createHash } from 'node:crypto';
import fc, { type Arbitrary } from 'fast-check';
import { type JsonSchema, valuesOf } from '../support/schema-arbitrary.ts';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
  readonly schema: JsonSchema;
}

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    /** Absent for a body that is just bytes. */
    readonly content: { readonly 'application/json'?: { readonly schema: JsonSchema } };
  };
  readonly responses: Readonly<Record<string, unknown>>;
}

export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

export interface RandomRequest {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
  /** Statuses that the document announces. */
  readonly statuses: readonly string[];
}

/** Things that are there, so that not every request is about something unknown. */
export interface KnownThings {
  readonly tasks: string[];
  readonly sessions: string[];
  readonly types: readonly string[];
}

/** Requests made from the document that the server itself publishes. */
export function randomRequests(
  { paths }: ApiDocument,
  known: KnownThings,
): Arbitrary<RandomRequest> {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      return requestOf(path, method.toUpperCase(), operation, known);
    }),
  );
  return fc.oneof(...operations);
}

function requestOf(
  path: string,
  method: string,
  { operationId, parameters = [], requestBody, responses }: Operation,
  known: KnownThings,
): Arbitrary<RandomRequest> {
  const inPath = parameters.filter((each) => each.in === 'path');
  const inQuery = parameters.filter((each) => each.in === 'query');
  const schema = requestBody?.content['application/json']?.schema;
  return fc
    .record({
      names: fc.tuple(...inPath.map(({ name }) => nameOf(name, path, known))),
      query: fc.tuple(...inQuery.map(queryValueOf)),
      body: bodyOf(schema),
    })
    .map(({ names, query, body }) => {
      const filled = inPath.reduce((sum, { name }, place) => {
        return sum.replace(`{${name}}`, encodeURIComponent(String(names[place])));
      }, path);
      return {
        operationId,
        method,
        path: filled + queryText(inQuery, query),
        body: method === 'GET' ? undefined : body,
        statuses: Object.keys(responses),
      };
    });
}

/** Each is there now and then; a cursor that somebody made up, rarely. */
function queryValueOf({ name, schema }: Parameter): Arbitrary<unknown> {
  const nothing = fc.constant(null);
  const weight = name === 'cursor' ? 20 : 2;
  return fc.oneof({ weight, arbitrary: nothing }, { weight: 1, arbitrary: valuesOf(schema) });
}

/** Some of the bodies that are broken as JSON are whole as bytes. */
const BROKEN = ['', '{', '[]', 'null', '{"a":', '"'];

const HASHES = BROKEN.map((text) => createHash('sha256').update(text).digest('hex'));

/** Mostly of something that is there. */
function nameOf(name: string, path: string, { tasks, sessions, types }: KnownThings) {
  const strange = fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom('t_1', 'w_1', 'd_1', '%'));
  const pools: Readonly<Record<string, readonly string[]>> = {
    sessionId: sessions,
    sha256: HASHES,
  };
  const pool = path.startsWith('/v1/tasks/') ? tasks : (pools[name] ?? types);
  const there = fc.nat().map((place) => pool[place % Math.max(1, pool.length)] ?? 'none');
  return fc.oneof({ weight: 4, arbitrary: there }, { weight: 1, arbitrary: strange });
}

function bodyOf(schema: JsonSchema | undefined): Arbitrary<string | undefined> {
  const broken = fc.oneof(fc.string(), fc.constantFrom(...BROKEN));
  if (schema === undefined) return fc.option(broken, { nil: undefined, freq: 2 });
  const right = valuesOf(schema).map((value) => JSON.stringify(value));
  return fc.oneof({ weight: 19, arbitrary: right }, { weight: 1, arbitrary: broken });
}

function queryText(parameters: readonly Parameter[], values: readonly unknown[]): string {
  const given = parameters.flatMap(({ name }, place) => {
    const value = values[place];
    if (value === null || value === undefined) return [];
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return [`${encodeURIComponent(name)}=${encodeURIComponent(wellFormed(text))}`];
  });
  return given.length === 0 ? '' : `?${given.join('&')}`;
}

/** Half a surrogate pair cannot be written into an address. */
function wellFormed(text: string): string {
  return text.toWellFormed();
}
