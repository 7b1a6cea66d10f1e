import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Forwards requests, and loses the answers to those that a test chooses. */
export class LosingProxy {
  /** Addresses of the requests whose answers were lost. */
  readonly lost: string[] = [];
  /** Bodies of all requests that are not `GET`. */
  readonly bodies: string[] = [];
  /** Runs after the server has answered and before the client learns that there is no answer. */
  meanwhile: () => Promise<unknown> = async () => undefined;
  private readonly server: Server;

  constructor(target: () => string, isLost: (asked: IncomingMessage) => boolean) {
    this.server = createServer(async (near, answer) => {
      const { url = '', method = '', headers } = near;
      const chunks = await near.toArray().catch(() => undefined);
      if (chunks === undefined) return;
      const body = Buffer.concat(chunks);
      if (method !== 'GET') this.bodies.push(body.toString());
      const far = request(new URL(url, target()), { method, headers }, async (reply) => {
        if (isLost(near)) {
          this.lost.push(url);
          await reply.resume().toArray();
          await this.meanwhile();
          near.socket.destroy();
          return;
        }
        answer.writeHead(reply.statusCode ?? 500, reply.headers);
        reply.pipe(answer);
      });
      far.on('error', () => near.socket.destroy());
      far.end(body);
    });
  }

  async start(): Promise<string> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}
