import { type OutgoingHttpHeaders, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ErrorBody, SluiceError } from '@sluice/protocol';

/** How long a refused client may continue to send before its connection is cut. */
const LINGER_MS = 1000;

/** Limits on the text and the number of problems that an answer quotes from a request. */
const MESSAGE_MAX = 2000;
const TEXT_MAX = 500;
const DETAILS_MAX = 50;
/** Every step of a definition may have one. */
const PROBLEMS_MAX = 2000;

/**
 * An error as every answer shows it. Quotes of the request are clipped here, for all errors: names,
 * numbers and texts of a request may be megabytes long.
 */
export function errorJson(error: SluiceError, requestId: string): string {
  const { code } = error;
  const most = code === 'invalid_definition' ? PROBLEMS_MAX : DETAILS_MAX;
  const details = error.details.slice(0, most).map(({ path, problem, code: kind }) => ({
    path: clipped(path, TEXT_MAX),
    problem: clipped(problem, TEXT_MAX),
    ...(kind === undefined ? {} : { code: kind }),
  }));
  const message = clipped(error.message, MESSAGE_MAX);
  const body: ErrorBody = { error: { code, message, details, requestId } };
  return JSON.stringify(body);
}

function clipped(text: string, charactersMax: number): string {
  return text.length <= charactersMax ? text : `${text.slice(0, charactersMax)}…`;
}

/** Answers a request in the API's format where no framework does. */
export function answerWithError(
  response: ServerResponse,
  error: SluiceError,
  requestId: string,
  headers: OutgoingHttpHeaders = {},
): void {
  const body = errorJson(error, requestId);
  const { retryAfterMs } = error;
  const all: OutgoingHttpHeaders = {
    ...headers,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  };
  if (retryAfterMs !== undefined) all['retry-after'] = `${Math.ceil(retryAfterMs / 1000)}`;
  response.writeHead(error.status, all);
  response.end(body);
}

/**
 * Answers on a bare connection that has no valid request, and closes it.
 *
 * Further bytes from the client are read and dropped for a moment. Closing a socket with unread
 * bytes resets it, and the client would lose the answer.
 */
export function refuseConnection(socket: Socket, error: SluiceError, requestId: string): void {
  const body = errorJson(error, requestId);
  const lines = [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    ...(error.retryAfterMs === undefined
      ? []
      : [`retry-after: ${Math.ceil(error.retryAfterMs / 1000)}`]),
    'connection: close',
  ];
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
  socket.once('end', () => socket.destroy());
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
  socket.resume();
}
