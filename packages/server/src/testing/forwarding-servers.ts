import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { connect, type IncomingHttpHeaders } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { DEFAULTS } from '../assembly/server-options.ts';
import { Forwarder, type ForwarderOptions } from '../forwarding/forwarder.ts';
import type { OwnerPlace } from '../forwarding/peer.ts';
import { createListener } from '../http/listener.ts';
import type { Refusal } from '../http/refusal.ts';
import { RequestGuard } from '../http/request-guard.ts';

export const SECRET = Buffer.from('the secret of this cluster');

/** Closes what a test has started, the newest first. */
export class Cleanup {
  private readonly steps: (() => Promise<void>)[] = [];

  add(step: () => Promise<void>): void {
    this.steps.push(step);
  }

  async run(): Promise<void> {
    for (const step of this.steps.splice(0).reverse()) await step();
  }
}

/** A server in the place of the owner, which a test can kill. */
export class FakeOwner {
  readonly place: OwnerPlace;
  /** Requests in order of arrival, with those under way. */
  readonly requests: IncomingMessage[] = [];
  /** Connections since the start. */
  accepted = 0;
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();

  private constructor(server: Server, runId: string) {
    this.server = server;
    const { port } = server.address() as AddressInfo;
    this.place = { url: `http://127.0.0.1:${port}`, runId };
    server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      this.accepted += 1;
      socket.on('close', () => this.sockets.delete(socket));
    });
    server.on('request', (request) => this.requests.push(request));
  }

  static async start(cleanup: Cleanup, handler: RequestListener): Promise<FakeOwner> {
    const server = createServer(handler);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const owner = new FakeOwner(server, `run-${Math.random()}`);
    cleanup.add(() => owner.kill());
    return owner;
  }

  get connections(): number {
    return this.sockets.size;
  }

  /** As after kill -9: connections are reset, and nobody listens. */
  async kill(): Promise<void> {
    for (const socket of this.sockets) socket.resetAndDestroy();
    if (!this.server.listening) return;
    this.server.close();
    await once(this.server, 'close');
  }
}

export interface RunningForwarder {
  readonly url: string;
  readonly forwarder: Forwarder;
  readonly refusals: readonly Refusal[];
}

/** A server that owns nothing, on the listener of real servers. */
export async function startForwarder(
  cleanup: Cleanup,
  owner: ForwarderOptions['owner'],
  more: Partial<ForwarderOptions> = {},
): Promise<RunningForwarder> {
  const limits = DEFAULTS.http;
  const refusals: Refusal[] = [];
  const desk = {
    newRequestId: () => `q_${refusals.length}`,
    refused: (refusal: Refusal) => refusals.push(refusal),
  };
  const forwarder = new Forwarder({
    owner,
    runId: 'run-forwarder',
    secret: SECRET,
    guard: new RequestGuard(['127.0.0.1'], limits),
    desk,
    bodyBytesMax: limits.bodyBytesMax,
    ...more,
  });
  const options = { limits, drainMs: 0, desk, certificate: undefined };
  const listener = createListener(forwarder.handle, options);
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  cleanup.add(async () => {
    const closed = once(listener, 'close');
    listener.close();
    await Promise.all([closed, forwarder.close()]);
  });
  const { port } = listener.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, forwarder, refusals };
}

export interface Http2Answer {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** One request over HTTP/2; rejects when the stream is reset. */
export async function askHttp2(
  url: string,
  headers: Record<string, string>,
  body?: string,
): Promise<Http2Answer> {
  const session = connect(url);
  try {
    const stream = session.request(headers);
    const head = once(stream, 'response');
    stream.end(body);
    const [answered] = (await head) as [IncomingHttpHeaders];
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    return { headers: answered, text: Buffer.concat(chunks).toString() };
  } finally {
    session.destroy();
  }
}

export async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
