import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** An address that stays the same while the servers behind it change. */
export class Relay {
  private readonly target: () => string;
  private readonly sockets = new Set<Socket>();
  private readonly frozen = new WeakSet<Socket>();
  private readonly server = createServer((near) => this.join(near));

  private constructor(target: () => string) {
    this.target = target;
  }

  /** `target` returns the current URL of the server. */
  static async start(target: () => string): Promise<Relay> {
    const relay = new Relay(target);
    relay.server.listen(0, '127.0.0.1');
    await once(relay.server, 'listening');
    return relay;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /**
   * From now on nothing passes on the existing connections, and neither side notices that the other
   * has ended, as when a machine loses power. New connections work as before.
   */
  freeze(): void {
    for (const socket of this.sockets) {
      socket.unpipe();
      socket.pause();
      this.frozen.add(socket);
    }
  }

  stop(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }

  private join(near: Socket): void {
    const far = connect(Number(new URL(this.target()).port), '127.0.0.1');
    this.carry(near, far);
    this.carry(far, near);
  }

  /** A break on one side breaks the other. */
  private carry(from: Socket, to: Socket): void {
    this.sockets.add(from);
    const end = (): void => {
      if (!this.frozen.has(from)) to.destroy();
    };
    from.on('error', end);
    from.on('close', () => {
      this.sockets.delete(from);
      end();
    });
    from.pipe(to);
  }
}
