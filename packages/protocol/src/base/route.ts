import type { TSchema } from 'typebox';
import type { ErrorCode } from './error-codes.ts';
import type { Access } from './roles.ts';

/** The media type of bodies and answers that are just bytes. */
export const BYTES = 'application/octet-stream';

type MediaType = 'text/event-stream' | 'text/plain' | typeof BYTES;

/** One call of the API: what server, clients and the OpenAPI document agree on. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path with parameters in braces. */
  readonly path: string;
  readonly access: Access;
  /** What it shows is of all namespaces, so it is for those who are over all of them. */
  readonly isServerWide?: boolean;
  readonly summary: string;
  readonly description?: string;
  readonly params?: TSchema;
  /** Without one a query string is refused. */
  readonly query?: TSchema;
  /** The schema of a body of JSON, or the media type of one that nobody looks into. */
  readonly body?: TSchema | typeof BYTES;
  /** A request without a body is as good as one with an empty object. */
  readonly isBodyOptional?: boolean;
  /** By status: the schema of a JSON answer, or the media type of any other. */
  readonly answers: Readonly<Record<number, TSchema | MediaType | 'none'>>;
  readonly errors: readonly ErrorCode[];
}

/** What can be wrong with any request that has a body. */
export const BODY_ERRORS = [
  'invalid_request',
  'payload_too_large',
  'unsupported_encoding',
  'unavailable',
] as const;

/** What changes something is refused while too much waits for the disk. */
export const CHANGE_ERRORS = [...BODY_ERRORS, 'overloaded', 'quota_exceeded'] as const;

/** What only looks has no body, and its answer waits for the disk like any other. */
export const READ_ERRORS = ['invalid_request', 'overloaded', 'unavailable'] as const;
