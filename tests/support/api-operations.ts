import type { JsonSchema } from './json-schema.ts';

interface DocumentedOperation {
  readonly operationId: string;
  readonly requestBody?: {
    readonly content: { readonly 'application/json'?: { readonly schema: JsonSchema } };
  };
}

/** An OpenAPI document, as far as it is about bodies of requests. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
}

/** An operation that takes JSON. */
export interface BodyOperation {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly schema: JsonSchema;
}

export function bodyOperations({ paths }: ApiDocument): BodyOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId, requestBody }]) => {
      const schema = requestBody?.content['application/json']?.schema;
      if (schema === undefined) return [];
      return [{ name: operationId, method: method.toUpperCase(), path, schema }];
    }),
  );
}
