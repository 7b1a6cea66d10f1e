/**
 * Calls of the API. Types come from the protocol's table of routes: a call that does not exist, or
 * with a wrong field, does not compile. Only types are imported, so no schema is in the bundle.
 */
import type { ErrorBody, ROUTES } from '@sluice/protocol';
import type { Static, TSchema } from 'typebox';

type Routes = typeof ROUTES;

/** Routes by method and path, such as `GET /v1/tasks/{id}`. */
type Calls = {
  [N in keyof Routes as `${Routes[N]['method']} ${Routes[N]['path']}`]: Routes[N];
};

export type Call = keyof Calls;

type AnswerSchemas<C extends Call> = Calls[C]['answers'][keyof Calls[C]['answers']];
type StaticOf<T> = T extends TSchema ? Static<T> : T extends 'none' ? undefined : never;

export type Answer<C extends Call> = StaticOf<AnswerSchemas<C>>;
export type Item<C extends Call> =
  Answer<C> extends { readonly items: readonly (infer T)[] } ? T : never;

type Field<C extends Call, F extends 'params' | 'query' | 'body'> = Calls[C] extends {
  readonly [K in F]: infer S;
}
  ? S extends TSchema
    ? Static<S>
    : never
  : never;

export interface Arguments<C extends Call> {
  readonly params?: Record<keyof Field<C, 'params'>, string | number>;
  readonly query?: Field<C, 'query'> | Readonly<Record<string, string | number | undefined>>;
  readonly body?: Field<C, 'body'>;
  readonly signal?: AbortSignal;
}

/** A refusal of the server, or no answer at all (`status` 0). */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: ErrorBody['error']['details'];

  constructor(status: number, { error }: Pick<ErrorBody, 'error'>) {
    super(error.message);
    this.status = status;
    this.code = error.code;
    this.details = error.details;
  }
}

/** Called with every refusal because of the key. */
let onUnauthenticated: (error: ApiError) => void = () => {};

export function listenForRefusedKey(listener: (error: ApiError) => void): void {
  onUnauthenticated = listener;
}

export async function api<C extends Call>(
  call: C,
  { params = {} as never, query, body, signal }: Arguments<C> = {},
): Promise<Answer<C>> {
  const [method, path] = call.split(' ');
  const init: RequestInit = { method, signal: signal ?? null };
  if (body !== undefined) init.body = JSON.stringify(body);
  const response = await fetch(urlOf(path, params, query), init).catch((cause: Error) => {
    if (cause.name === 'AbortError') throw cause;
    throw new ApiError(0, noAnswer());
  });
  if (response.status === 204) return undefined as Answer<C>;
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok) return answer as Answer<C>;
  const refusal = isRefusal(answer) ? answer : noAnswer(`the server answered ${response.status}`);
  const error = new ApiError(response.status, refusal);
  if (response.status === 401) onUnauthenticated(error);
  throw error;
}

/** The address of a call, with its parameters and query. */
function urlOf(
  path: string,
  params: Readonly<Record<string, string | number>> = {},
  query: object = {},
): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(params[name])),
  );
  const fields = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const search = new URLSearchParams(fields.map(([name, value]) => [name, String(value)]));
  return search.size === 0 ? filled : `${filled}?${search}`;
}

function isRefusal(answer: unknown): answer is ErrorBody {
  return typeof answer === 'object' && answer !== null && 'error' in answer;
}

function noAnswer(message = 'the server does not answer'): Pick<ErrorBody, 'error'> {
  return { error: { code: 'unavailable', message, details: [], requestId: '' } };
}
