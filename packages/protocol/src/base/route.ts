import type { TSchema } from 'typebox';
import type { ErrorCode } from './error-codes.ts';
import type { Access } from './roles.ts';

/** The media type of raw bytes. */
export const BYTES = 'application/octet-stream';

type MediaType = 'text/event-stream' | 'text/plain' | typeof BYTES;

/** One call of the API: the common definition for server, clients and the OpenAPI document. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path with parameters in braces. */
  readonly path: string;
  readonly access: Access;
  /** The call shows data of all namespaces, so only keys of the default namespace may make it. */
  readonly isServerWide?: boolean;
  readonly summary: string;
  readonly description?: string;
  readonly params?: TSchema;
  /** Without a schema, a query string is refused. */
  readonly query?: TSchema;
  /** Headers with a meaning of this call. Required ones are so only beside the others. */
  readonly headers?: TSchema;
  /** The schema of a JSON body, or the media type of a body that is not parsed. */
  readonly body?: TSchema | typeof BYTES;
  /** A missing body counts as an empty object. */
  readonly isBodyOptional?: boolean;
  /** By status: the schema of a JSON answer, or the media type of any other. */
  readonly answers: Readonly<Record<number, TSchema | MediaType | 'none'>>;
  readonly errors: readonly ErrorCode[];
  /**
   * The server that forwards a request may send it a second time when the owner may have executed
   * the first copy: the second copy changes nothing more, and its answer is true. With `if_deduped`
   * this holds when every item of the body has a dedupe key, or the request has one. Reads need not
   * say it.
   */
  readonly repeatable?: true | 'if_deduped';
}

/** When a request may be sent again although its first copy may have been executed. */
export function repeatability({ method, repeatable }: Route): 'always' | 'if_deduped' | 'never' {
  if (repeatable === 'if_deduped') return repeatable;
  return method === 'GET' || repeatable === true ? 'always' : 'never';
}

/** Errors of any request with a body. */
export const BODY_ERRORS = [
  'invalid_request',
  'payload_too_large',
  'unsupported_encoding',
  'unavailable',
] as const;

/** Changes are refused while too much waits for the disk. */
export const CHANGE_ERRORS = [...BODY_ERRORS, 'overloaded', 'quota_exceeded'] as const;

/** Reads have no body, and their answers wait for the disk like any other. */
export const READ_ERRORS = ['invalid_request', 'overloaded', 'unavailable'] as const;
