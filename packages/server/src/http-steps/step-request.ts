import { requestFields, wrongHttpFields } from '@sluice/core';
import { RequestFailure } from './request-failure.ts';

const CONNECT_MS = 10_000;
const READ_MS = 30_000;

/** The request of an HTTP step. */
export interface StepRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
  /** How long it may take to connect, and then to answer. */
  readonly connectMs: number;
  readonly readMs: number;
  /** The step ends by a call from outside, not with the answer (`asyncComplete`). */
  readonly isAsync: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/** Reads the input of an HTTP step. Throws a `RequestFailure` that names the field. */
export function stepRequest(input: unknown): StepRequest {
  const { fields, at } = requestFields(fieldsOf(input));
  const given = fieldsOf(fields);
  const [wrong] = wrongHttpFields(given);
  if (wrong !== undefined) throw bad(`${at}/${wrong.name}: ${wrong.message}`);
  const uri = given.uri ?? given.url ?? undefined;
  const url = typeof uri === 'string' ? URL.parse(uri) : null;
  if (url === null) throw bad(`${at}/uri: an HTTP step needs the uri of a receiver`);
  const method = String(given.method ?? 'GET').toUpperCase();
  const { connectionTimeOut, readTimeOut } = given;
  return {
    url,
    method,
    ...withBody(given),
    connectMs: Number(connectionTimeOut ?? CONNECT_MS),
    readMs: Number(readTimeOut ?? READ_MS),
    isAsync: given.asyncComplete === true || fieldsOf(input).asyncComplete === true,
  };
}

/** A text is sent as it is, anything else as JSON. */
function withBody(given: Fields): Pick<StepRequest, 'headers' | 'body'> {
  const named = Object.entries(fieldsOf(given.headers));
  const headers = Object.fromEntries(
    named.map(([name, value]) => [name.toLowerCase(), String(value)]),
  );
  const accept = { accept: String(given.accept ?? 'application/json'), ...headers };
  const body = given.body ?? undefined;
  if (body === undefined) return { headers: accept, body: undefined };
  const isText = typeof body === 'string';
  const type = given.contentType ?? (isText ? 'text/plain; charset=utf-8' : 'application/json');
  return {
    headers: { 'content-type': String(type), ...accept },
    body: Buffer.from(isText ? body : JSON.stringify(body)),
  };
}

function bad(message: string): RequestFailure {
  return new RequestFailure('bad_request', message, { retryable: false });
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : {};
}
