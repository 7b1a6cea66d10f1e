import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ErrorBody, SluiceError } from '@sluice/protocol';

/** So long a refused client may go on sending before its connection is cut. */
const LINGER_MS = 1000;

/** An error as every answer has it. */
export function errorJson(error: SluiceError, requestId: string): string {
  const { code, message, details } = error;
  const body: ErrorBody = { error: { code, message, details, requestId } };
  return JSON.stringify(body);
}

/**
 * Answers on a bare connection, where there is no request that could be answered, and closes it.
 *
 * What the client still sends is read and dropped for a moment: closing a socket that holds unread
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
