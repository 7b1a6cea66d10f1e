import type { ClientRequest, IncomingMessage } from 'node:http';
import { announcedLength, wasCut } from '../http/whole-body.ts';

/**
 * Passes a body on as fast as the owner reads it. The owner's copy is complete only if the client's
 * was (L10): otherwise its request is broken off.
 */
export function sendUpload(body: IncomingMessage, upstream: ClientRequest): void {
  const announced = announcedLength(body);
  let bytes = 0;
  let isOver = false;
  const finish = (isWhole: boolean): void => {
    if (isOver) return;
    isOver = true;
    if (isWhole) upstream.end();
    else upstream.destroy();
  };
  body.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    // After a break the rest is read and dropped: some clients read no answer before they sent all.
    if (upstream.destroyed || upstream.writableEnded) return;
    if (!upstream.write(chunk)) body.pause();
  });
  upstream.on('drain', () => body.resume());
  upstream.on('close', () => body.resume());
  body.on('end', () => finish(!wasCut(body) && (announced < 0 || announced === bytes)));
  body.on('error', () => finish(false));
  body.on('close', () => finish(false));
}
