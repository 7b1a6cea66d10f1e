import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import {
  brokenText,
  type ErrorDetail,
  inexactPayload,
  LIMITS,
  repeatedName,
  SluiceError,
} from '@sluice/protocol';
import type { Static, TSchema } from 'typebox';
import { type Checker, invalid } from '../base/validation.ts';
import { overloaded } from '../limits/admission.ts';

/**
 * Reads a request's body as JSON, with any content type; `undefined` when it is empty.
 *
 * A body counts only when it arrived completely (L10). When an HTTP/2 peer dies in the middle, it
 * looks like a normal end, except that the stream is marked as aborted or the announced length is
 * not reached.
 */
export async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  refuseEncoding(request);
  return jsonOf(await readWhole(request));
}

/** A whole body as JSON; `undefined` when it is empty. */
export function jsonOf(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  if (!isUtf8(body)) throw notJson('the body is not UTF-8');
  const text = body.toString();
  const value = parseJson(text);
  const problem = repeatedName(text, value) ?? brokenText(text, value) ?? inexact(text);
  if (problem !== undefined) throw invalid('the body is not valid', [problem]);
  return value;
}

function inexact(text: string): ErrorDetail | undefined {
  const found = inexactPayload(text);
  if (found === undefined) return undefined;
  const { path, number } = found;
  return { path, problem: `the number ${number} cannot be stored exactly: send it as text` };
}

/** Refuses encoded bodies, because the server decodes none. */
export function refuseEncoding({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding'];
  if (encoding === undefined || encoding === 'identity') return;
  throw new SluiceError(
    'unsupported_encoding',
    `content-encoding '${encoding}' is not supported; send the body as it is`,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw notJson((cause as Error).message);
  }
}

/** Reads a body by its schema; a missing body counts as an empty object. */
export async function readBody<T extends TSchema>(
  request: IncomingMessage,
  checker: Checker<T>,
): Promise<Static<T>> {
  const body = await readJsonBody(request);
  return checker.parse(body === undefined ? {} : body, 'the body is not valid');
}

/** Requests whose body limit differs from the default. */
const bodyBounds = new WeakMap<IncomingMessage, number>();

/** Sets the maximum length of this request's body. */
export function limitBody(request: IncomingMessage, bytesMax: number): void {
  if (bytesMax !== LIMITS.bodyBytesMax) bodyBounds.set(request, bytesMax);
}

/** Bytes of bodies that are still arriving, over all requests of this process. */
let arrivingBytes = 0;

/** Many clients that each send an allowed body could still fill the memory (L9). */
const ARRIVING_BYTES_MAX = 256 * 1024 * 1024;

/** Reads a body as it is; it must be complete (L10). */
export function readWhole(request: IncomingMessage): Promise<Buffer> {
  const announced = announcedLength(request);
  const bytesMax = bodyBounds.get(request) ?? LIMITS.bodyBytesMax;
  if (announced > bytesMax) return Promise.reject(tooLarge(bytesMax));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    let isOver = false;
    const finish = (settle: () => void): void => {
      if (isOver) return;
      isOver = true;
      arrivingBytes -= length;
      settle();
    };
    const refuse = (error: Error): void => finish(() => reject(error));
    request.on('data', (chunk: Buffer) => {
      if (isOver) return;
      if (length + chunk.length > bytesMax) return refuse(tooLarge(bytesMax));
      if (arrivingBytes + chunk.length > ARRIVING_BYTES_MAX) {
        return refuse(overloaded('too many large requests arrive at once'));
      }
      length += chunk.length;
      arrivingBytes += chunk.length;
      chunks.push(chunk);
    });
    request.on('end', () => {
      const cut = wasCut(request) || (announced >= 0 && announced !== length);
      if (cut) return refuse(notWhole());
      finish(() => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, length)));
    });
    // The error is created only when it is needed, because capturing its stack is slow.
    const cutShort = (): void => {
      if (!isOver) refuse(notWhole());
    };
    request.on('error', refuse);
    request.on('aborted', cutShort);
    request.on('close', cutShort);
  });
}

function notWhole(): SluiceError {
  return notJson('the body did not arrive completely');
}

/** Whether a body that ended was cut off. */
export function wasCut(request: IncomingMessage): boolean {
  if (request.httpVersionMajor < 2) return !request.complete;
  return (request as unknown as Http2ServerRequest).stream.aborted;
}

/** -1 when the client did not announce a length. */
export function announcedLength(request: IncomingMessage): number {
  const header = request.headers['content-length'];
  return header === undefined ? -1 : Number(header);
}

function tooLarge(bytesMax: number): SluiceError {
  return new SluiceError(
    'payload_too_large',
    `the body is larger than ${bytesMax} bytes; send smaller batches`,
  );
}

function notJson(problem: string): SluiceError {
  return new SluiceError('invalid_request', `the body is not valid JSON: ${problem}`, {
    details: [{ path: '', problem }],
  });
}
