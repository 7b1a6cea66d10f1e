import { createServer, type RequestListener } from 'node:http';
import type { Server } from 'node:net';

interface Place {
  readonly host: string;
  readonly port: number;
}

/** Resolves when the server listens, and rejects when it cannot. */
export function listening(server: Server, { host, port }: Place): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** The framework wants a server; this one never listens, and its handler is called directly. */
export function handlerOnly() {
  let taken: RequestListener = () => undefined;
  const server = createServer();
  const makeServer = (handler: RequestListener): Server => {
    taken = handler;
    return server;
  };
  return { server, makeServer, handler: () => taken };
}
