import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/**
 * Stands between a log and its database. It can cut every connection when the next bytes of one
 * direction arrive, before or after it has passed them on.
 */
export class CuttingProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Undefined while everything passes. */
  #cut: 'before the statement' | 'before the answer' | undefined;
  /** The first bytes of statements that are cut off. */
  #marker = '';

  private constructor(port: number) {
    this.#server = createServer((client) => this.#join(client, port));
  }

  static async start(port: number): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(port);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as { readonly port: number }).port;
  }

  /** Cuts all connections once, when a statement with `marker` comes by. */
  cutNext(cut: 'before the statement' | 'before the answer', marker: string): void {
    this.#cut = cut;
    this.#marker = marker;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #join(client: Socket, port: number): void {
    const server = connect(port, '127.0.0.1');
    let isCutAtAnswer = false;
    client.on('data', (bytes) => {
      if (this.#cut === undefined || !bytes.includes(this.#marker)) {
        server.write(bytes);
        return;
      }
      const isAnswered = this.#cut === 'before the answer';
      this.#cut = undefined;
      if (!isAnswered) return void client.destroy();
      isCutAtAnswer = true;
      server.write(bytes);
    });
    server.on('data', (bytes) => {
      if (isCutAtAnswer) client.destroy();
      else client.write(bytes);
    });
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ]) {
      this.#sockets.add(socket);
      // A cut connection fails at both ends, which is what the test is about.
      socket.on('error', () => {});
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
  }
}
