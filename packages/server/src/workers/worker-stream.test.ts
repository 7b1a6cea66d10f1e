import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { WorkerStream } from './worker-stream.ts';

const servers: ReturnType<typeof createServer>[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A real connection whose server side is the stream under test. */
async function connectStream() {
  const server = createServer().listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const request = get({ host: '127.0.0.1', port });
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
  return { stream: new WorkerStream(response, () => 0), request, socket: response.socket };
}

test('before the welcome nothing can be seen, not even the status (L2)', async () => {
  const { stream, request } = await connectStream();
  stream.stageEvent('welcome', {});

  stream.signal('ping');
  stream.signal('drain');
  stream.end();

  const [error] = await once(request, 'error');
  expect(error.code).toBe('ECONNRESET');
});

test('staged events leave in one piece and are counted when they have left', async () => {
  const { stream, request } = await connectStream();
  stream.stageEvent('welcome', { sessionId: 's' });
  const frame = stream.seal();
  if (frame === undefined) throw new Error('nothing was staged');
  const sent = new Promise<number>((resolve) => {
    stream.onSent = resolve;
  });

  stream.send({ ...frame, cost: 77 });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const [chunk] = await once(response, 'data');

  expect(String(chunk)).toBe('event: welcome\ndata: {"sessionId":"s"}\n\n');
  expect(await sent).toBe(77);
  stream.end();
});

test('a push is written at once, not after what else the turn has to write', async () => {
  const { stream, request, socket } = await connectStream();
  for (const name of ['welcome', 'tasks']) {
    stream.stageEvent(name, {});
    const frame = stream.seal();
    if (frame === undefined) throw new Error('nothing was staged');
    const before = socket?.bytesWritten ?? 0;

    stream.send(frame);

    expect(socket?.bytesWritten).toBeGreaterThan(before);
    expect(socket?.writableLength).toBe(0);
  }
  request.on('error', () => undefined).destroy();
});
