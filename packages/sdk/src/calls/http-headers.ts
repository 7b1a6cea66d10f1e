import { REQUEST_KEY_HEADER, REQUEST_WINDOW_HEADER } from '@sluice/protocol/request-key';
import type { HttpAnswer, HttpRequest } from '../base/ports.ts';

/** Headers that a request has beside those of every request. */
export function headersOf({
  body,
  lastEventId,
  requestKey,
}: HttpRequest): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (lastEventId !== undefined) headers['last-event-id'] = lastEventId;
  if (requestKey !== undefined) {
    headers[REQUEST_KEY_HEADER] = requestKey.key;
    headers[REQUEST_WINDOW_HEADER] = String(requestKey.windowMs);
  }
  return headers;
}

/** What the SDK reads in the headers of an answer. */
export function answerHeaders(
  header: (name: string) => string | undefined,
): Pick<HttpAnswer, 'retryAfter' | 'requestKey'> {
  const retryAfter = header('retry-after');
  const requestKey = header(REQUEST_KEY_HEADER);
  return {
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(requestKey === undefined ? {} : { requestKey }),
  };
}
