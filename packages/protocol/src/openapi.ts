import type { TSchema } from 'typebox';
import { withDocumented } from './base/documented.ts';
import { ERROR_CODES, type ErrorCode } from './base/error-codes.ts';
import { BYTES, type Route, repeatability } from './base/route.ts';
import { ROUTES } from './routes/routes.ts';
import { ErrorBody } from './schemas/error-schema.ts';

/** The API as an OpenAPI 3.1 document, generated from the schemas that validate requests. */
export function openApiDocument(version: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const [operationId, route] of Object.entries<Route>(ROUTES)) {
    paths[route.path] ??= {};
    paths[route.path][route.method.toLowerCase()] = operation(operationId, route);
  }
  return withDocumented({
    openapi: '3.1.0',
    info: {
      title: 'Sluice',
      version,
      summary: 'A distributed execution scheduler',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: 'http://127.0.0.1:7420' }],
    paths,
    components: {
      schemas: { Error: ErrorBody },
      securitySchemes: { key: { type: 'http', scheme: 'bearer', bearerFormat: 'slk_…' } },
    },
  });
}

function operation(operationId: string, route: Route): object {
  const parameters = [
    ...parametersOf(route.params, 'path'),
    ...parametersOf(route.query, 'query'),
    ...parametersOf(route.headers, 'header'),
  ];
  return {
    operationId,
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(route.body === undefined ? {} : { requestBody: requestBody(route, route.body) }),
    ...(route.access === 'open' ? {} : { security: [{ key: [] }, {}] }),
    responses: { ...answers(route), ...errors(codesOf(route)) },
  };
}

interface ObjectSchema {
  readonly properties: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
}

function parametersOf(schema: TSchema | undefined, place: 'path' | 'query' | 'header'): object[] {
  if (schema === undefined) return [];
  const { properties, required = [] } = schema as unknown as ObjectSchema;
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    required: place !== 'header' && required.includes(name),
    schema: property,
  }));
}

function requestBody({ isBodyOptional = false }: Route, body: TSchema | typeof BYTES): object {
  const content = body === BYTES ? { [BYTES]: {} } : { 'application/json': { schema: body } };
  return { required: !isBodyOptional, content };
}

function answers(route: Route): Record<string, object> {
  const result: Record<string, object> = {};
  for (const [status, answer] of Object.entries(route.answers)) {
    result[status] = { description: route.summary, ...contentOf(answer) };
  }
  return result;
}

function contentOf(answer: Route['answers'][number]): object {
  if (answer === 'none') return {};
  // In OpenAPI 3.1, content without a schema is bytes.
  if (answer === BYTES) return { content: { [BYTES]: {} } };
  if (typeof answer === 'string') return { content: { [answer]: { schema: { type: 'string' } } } };
  return { content: { 'application/json': { schema: answer } } };
}

/** The call's own errors, and those of every call that needs a key or changes something. */
function codesOf(route: Route): readonly ErrorCode[] {
  const { access, errors } = route;
  const lost = repeatability(route) === 'always' ? [] : (['outcome_unknown'] as const);
  if (access === 'open') return [...errors, ...lost];
  return [...errors, ...lost, 'unauthenticated', 'forbidden', 'too_many_failures'];
}

/** Codes that share a status share an answer. Every call may also have an unexpected error. */
function errors(codes: readonly ErrorCode[]): Record<string, object> {
  const result: Record<string, object> = {};
  for (const code of [...codes, 'forbidden_origin', 'internal_error'] as const) {
    const { status } = ERROR_CODES[code];
    const others = result[status] as { description: string } | undefined;
    result[status] = {
      description: others === undefined ? code : `${others.description}, ${code}`,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    };
  }
  return result;
}
