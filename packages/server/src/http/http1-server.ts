import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { SluiceError } from '@sluice/protocol';
import type { Configuration } from '../config/settings.ts';
import { answerWithError, refuseConnection } from './raw-answer.ts';
import type { RefusalDesk } from './refusal.ts';

/** A wait may be silent for a minute. A connection that is silent for longer than this is dead. */
export const STALLED_MS = 120_000;

/** Maximum interval between checks of the connections. */
export const WATCH_EVERY_MS_MAX = 1000;

/** HTTP/1.1 for connections that another server accepts. */
export function createHttp1(
  handler: RequestListener,
  limits: Configuration['http'],
  desk: RefusalDesk,
): Server {
  const server = createServer(
    {
      noDelay: true,
      maxHeaderSize: limits.headerBytesMax,
      headersTimeout: limits.headTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.idleTimeoutMs,
      connectionsCheckingInterval: Math.min(WATCH_EVERY_MS_MAX, limits.headTimeoutMs),
      // A request without a host gets an error in the API's format, like any other.
      requireHostHeader: false,
    },
    handler,
  );
  server.timeout = STALLED_MS;
  // Node would silently drop the headers beyond this count; the request guard counts them all.
  server.maxHeadersCount = 0;
  // Its connections come from another server, so it never listens. Node starts to watch connections
  // on this event.
  server.emit('listening');

  const refuse = (socket: Socket, error: SluiceError): void => {
    const requestId = desk.newRequestId();
    desk.refused({ code: error.code, status: error.status, requestId, cause: error.cause });
    refuseConnection(socket, error, requestId);
  };
  const refused = new WeakSet<Socket>();
  server.on('clientError', (error: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket;
    if (refused.has(socket)) return;
    refused.add(socket);
    if (error.code === 'ECONNRESET' || !socket.writable || isAnswering(socket)) socket.destroy();
    else refuse(socket, parserError(error, limits));
  });
  server.on('connect', (_request, socket) => {
    refuse(socket as Socket, new SluiceError('method_not_allowed', 'this server is not a proxy'));
  });
  server.on('checkExpectation', (request: IncomingMessage, response) => {
    const problem = `expectation '${request.headers.expect}' is not supported`;
    const error = new SluiceError('expectation_failed', problem);
    const requestId = desk.newRequestId();
    desk.refused({ code: error.code, status: error.status, requestId });
    answerWithError(response, error, requestId, { connection: 'close' });
  });
  return server;
}

/**
 * Node keeps the current answer here. Once it has begun, no other answer can follow on the socket.
 */
function isAnswering(socket: Socket): boolean {
  const { _httpMessage } = socket as { _httpMessage?: { readonly headersSent: boolean } };
  return _httpMessage?.headersSent === true;
}

function parserError(error: NodeJS.ErrnoException, limits: Configuration['http']): SluiceError {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW': {
      const problem = `the headers of the request are larger than ${limits.headerBytesMax} bytes`;
      return new SluiceError('headers_too_large', problem);
    }
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new SluiceError(
        'request_timeout',
        `the request did not arrive in time: its headers within ${limits.headTimeoutMs} ms, ` +
          `all of it within ${limits.requestTimeoutMs} ms`,
      );
    default:
      return new SluiceError('invalid_request', 'this is not valid HTTP', {
        cause: error,
      });
  }
}
