import { createHash } from 'node:crypto';
import fc, { type Arbitrary } from 'fast-check';
import type { JsonSchema } from '../support/json-schema.ts';
import {
  numbersToTry,
  numberVariants,
  unmarked,
  unmarkedText,
} from '../support/number-variants.ts';
import { type ValueOptions, valuesOf } from '../support/schema-arbitrary.ts';
import type { KnownThings } from './known-things.ts';

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
    /** Absent for a body of raw bytes. */
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

/** These are drawn more often, because they create and change what the others are about. */
const WEIGHTS: Readonly<Record<string, number>> = {
  submitTasks: 8,
  openWorkerSession: 8,
  reportAttempts: 8,
  cancelTask: 5,
};

/** Requests that follow the document which the server itself publishes. */
export function randomRequests(
  { paths }: ApiDocument,
  known: KnownThings,
): Arbitrary<RandomRequest> {
  const operations = operationsOf({ paths }).map(({ path, method, operation }) => ({
    weight: WEIGHTS[operation.operationId] ?? 1,
    arbitrary: requestOf({ path, method, operation }, known),
  }));
  return fc.oneof(...operations);
}

interface NamedOperation {
  readonly path: string;
  readonly method: string;
  readonly operation: Operation;
}

function operationsOf({ paths }: ApiDocument): NamedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      return { path, method: method.toUpperCase(), operation };
    }),
  );
}

/**
 * Correct requests except for one number, which is at its bounds, beyond them, or odd. There is one
 * request for each number of each schema and each such value.
 */
export function numberSweep(document: ApiDocument, known: KnownThings): Arbitrary<RandomRequest>[] {
  return operationsOf(document).flatMap((named) => {
    const { parameters = [], requestBody } = named.operation;
    const body = requestBody?.content['application/json']?.schema;
    const inBody = sweepOf(body, (held) => requestOf(named, known, { ...LEAN, body: held }));
    const inQuery = parameters.flatMap((parameter) =>
      sweepOf(parameter.schema, (held) => {
        const replaced = { ...parameter, schema: held };
        const others = parameters.map((each) => (each === parameter ? replaced : each));
        const operation = { ...named.operation, parameters: others };
        return requestOf({ ...named, operation }, known, { ...LEAN, query: parameter.name });
      }),
    );
    return [...inBody, ...inQuery];
  });
}

function sweepOf<T>(schema: JsonSchema | undefined, make: (held: JsonSchema) => T): T[] {
  return numberVariants(schema ?? {}).flatMap(({ number, holding }) => {
    return numbersToTry(number).map((text) => make(holding(text)));
  });
}

interface RequestForm {
  /** Nothing invalid and nothing optional. */
  readonly isLean: boolean;
  /** Replaces the body schema of the document. */
  readonly body?: JsonSchema;
  /** The one optional parameter that is set. */
  readonly query?: string;
}

const LEAN = { isLean: true } as const;

function requestOf(
  { path, method, operation }: NamedOperation,
  known: KnownThings,
  form: RequestForm = { isLean: false },
): Arbitrary<RandomRequest> {
  const { operationId, parameters = [], requestBody, responses } = operation;
  const inPath = parameters.filter((each) => each.in === 'path');
  const inQuery = parameters.filter((each) => each.in === 'query');
  const schema = form.body ?? requestBody?.content['application/json']?.schema;
  return fc
    .record({
      names: fc.tuple(...inPath.map(({ name }) => nameOf(name, path, known))),
      query: fc.tuple(...inQuery.map((each) => queryValueOf(each, form))),
      body: bodyOf(schema, { pools: poolsOf(known), isLean: form.isLean }),
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

/** Parameters are set now and then; an invented cursor only rarely. */
function queryValueOf({ name, schema }: Parameter, form: RequestForm): Arbitrary<unknown> {
  const nothing = fc.constant(null);
  if (form.isLean) return name === form.query ? valuesOf(schema, LEAN) : nothing;
  const weight = name === 'cursor' ? 20 : 2;
  return fc.oneof({ weight, arbitrary: nothing }, { weight: 1, arbitrary: valuesOf(schema) });
}

/** Some of these are broken as JSON but valid as raw bytes. */
const BROKEN = ['', '{', '[]', 'null', '{"a":', '"'];

const HASHES = BROKEN.map((text) => createHash('sha256').update(text).digest('hex'));

/** Usually the name of something that exists. */
function nameOf(name: string, path: string, { tasks, held, sessions, types }: KnownThings) {
  const strange = fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom('t_1', 'w_1', 'd_1', '%'));
  const pools: Readonly<Record<string, readonly string[]>> = {
    sessionId: sessions,
    sha256: HASHES,
  };
  const from = path.startsWith('/v1/tasks/') ? [tasks, held] : [pools[name] ?? types];
  const there = from.map((pool) => ({
    weight: 5,
    arbitrary: fc.nat().map((place) => pool[place % Math.max(1, pool.length)] ?? 'none'),
  }));
  return fc.oneof(...there, { weight: 1, arbitrary: strange });
}

/** Names of existing things for a body, by property. */
function poolsOf({
  tasks,
  sessions,
  types,
  leases,
}: KnownThings): NonNullable<ValueOptions['pools']> {
  return {
    type: types,
    id: tasks,
    ids: tasks,
    parentId: tasks,
    sessionId: sessions,
    lease: leases,
    running: leases,
  };
}

function bodyOf(
  schema: JsonSchema | undefined,
  options: ValueOptions,
): Arbitrary<string | undefined> {
  const broken = fc.oneof(fc.string(), fc.constantFrom(...BROKEN));
  if (schema === undefined) return fc.option(broken, { nil: undefined, freq: 2 });
  const right = valuesOf(schema, options).map((value) => unmarked(JSON.stringify(value)));
  if (options.isLean === true) return right;
  return fc.oneof({ weight: 19, arbitrary: right }, { weight: 1, arbitrary: broken });
}

function queryText(parameters: readonly Parameter[], values: readonly unknown[]): string {
  const given = parameters.flatMap(({ name }, place) => {
    const value = values[place];
    if (value === null || value === undefined) return [];
    const text = typeof value === 'string' ? unmarkedText(value) : JSON.stringify(value);
    return [`${encodeURIComponent(name)}=${encodeURIComponent(wellFormed(text))}`];
  });
  return given.length === 0 ? '' : `?${given.join('&')}`;
}

/** An address cannot hold half a surrogate pair. */
function wellFormed(text: string): string {
  return text.toWellFormed();
}
