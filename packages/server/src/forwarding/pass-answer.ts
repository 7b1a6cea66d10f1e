import type { IncomingMessage, ServerResponse } from 'node:http';
import { constants, type Http2ServerResponse } from 'node:http2';
import { OWNER_HEADER } from '@sluice/protocol';
import type { Exchange } from './exchange.ts';
import { answerHeaders } from './forwarded-headers.ts';
import type { OwnerPlace } from './peer.ts';

export interface OwnersAnswer {
  readonly answer: IncomingMessage;
  /** Clients may ask this server directly. */
  readonly place: OwnerPlace;
  readonly exchange: Exchange;
}

/**
 * Passes the owner's answer on as fast as the client reads it, and resolves when either is done.
 * An answer that broke off ends with a broken connection, so that nobody takes it for whole (L10).
 */
export function passAnswer(
  { answer, place, exchange }: OwnersAnswer,
  response: ServerResponse,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isOver = false;
  const finish = (end: () => void): void => {
    if (isOver) return;
    isOver = true;
    end();
    resolve();
  };
  response.writeHead(answer.statusCode ?? 502, {
    ...answerHeaders(answer.headers),
    [OWNER_HEADER]: place.url,
  });
  // The first event of a stream may come much later than its head.
  if (answer.headers['content-length'] === undefined) response.flushHeaders();
  answer.on('data', (chunk: Buffer) => {
    if (isOver || response.write(chunk)) return;
    answer.pause();
    exchange.leavePool();
  });
  response.on('drain', () => answer.resume());
  answer.on('end', () => finish(() => (answer.complete ? response.end() : cut(response))));
  answer.on('close', () => finish(() => cut(response)));
  response.on('close', () => finish(() => answer.destroy()));
  return promise;
}

function cut(response: ServerResponse): void {
  const { stream } = response as unknown as Partial<Http2ServerResponse>;
  if (stream === undefined) response.destroy();
  else stream.close(constants.NGHTTP2_INTERNAL_ERROR);
}
