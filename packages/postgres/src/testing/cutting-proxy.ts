/**
 * Stands between servers of Sluice and their database, and cuts their connections.
 *
 * It cuts in the moment in which a certain statement comes by, so that the cut meets that statement
 * and no other. `breakNext` breaks the connection of that statement once. `cutNext` cuts all
 * connections, also those that are made later, until `heal`.
 */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** Where the connection of a statement breaks. */
export type Break = 'before the statement' | 'before the answer';

/**
 * - `both`: nothing passes and nothing is closed, as in a network without the other machine.
 * - `statements`: what clients send does not reach the database. Answers pass.
 * - `answers`: the database hears its clients, and its answers are lost.
 * - `reset`: every connection is reset, again and again.
 */
export type Cut = 'both' | 'statements' | 'answers' | 'reset';

/** What a statement is looked for by, and what happens to the first one that is found. */
interface Moment {
  readonly marker: string;
  readonly come: (link: Link) => void;
}

export class CuttingProxy {
  /** The address of a database or store through this proxy. */
  readonly address: string;
  readonly #server: Server;
  readonly #links = new Set<Link>();
  /** Undefined while everything passes. */
  #cut: Cut | undefined;
  /** Undefined when no statement is waited for. */
  #moment: Moment | undefined;

  private constructor(server: Server, address: URL) {
    const { port } = server.address() as { readonly port: number };
    const through = new URL(address);
    through.port = String(port);
    this.address = through.href;
    this.#server = server.on('connection', (client) => this.#join(client, Number(address.port)));
  }

  /** `address` is that of a database or store. */
  static async startBefore(address: string): Promise<CuttingProxy> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new CuttingProxy(server, new URL(address));
  }

  /** What is held back now, in bytes. */
  get heldBytes(): number {
    return [...this.#links].reduce((sum, { heldBytes }) => sum + heldBytes, 0);
  }

  /** Breaks one connection once, when a statement with `marker` comes by. */
  breakNext(place: Break, marker: string): void {
    this.#moment = { marker, come: (link) => link.break(place) };
  }

  /** Resolves when a statement with `marker` came by and met the cut. */
  cutNext(cut: Cut, marker: string): Promise<void> {
    return new Promise((resolve) => {
      const come = () => {
        this.#cut = cut;
        for (const link of this.#links) link.cut(cut);
        resolve();
      };
      this.#moment = { marker, come };
    });
  }

  /**
   * Everything passes again. What was held back arrives now: TCP sends it until it arrives, so an
   * owner's append may land long after another server took over.
   */
  heal(): void {
    this.#cut = undefined;
    for (const link of this.#links) link.heal();
  }

  async stop(): Promise<void> {
    for (const link of this.#links) link.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #join(client: Socket, port: number): void {
    const link = new Link(client, connect(port, '127.0.0.1'), (bytes) => this.#saw(link, bytes));
    this.#links.add(link);
    void link.closed.then(() => this.#links.delete(link));
    if (this.#cut !== undefined) link.cut(this.#cut);
  }

  /** Called before the bytes are passed on. */
  #saw(link: Link, bytes: Buffer): void {
    const moment = this.#moment;
    if (moment === undefined || !bytes.includes(moment.marker)) return;
    this.#moment = undefined;
    moment.come(link);
  }
}

/** A connection of a client, and the one to the database that stands for it. */
class Link {
  readonly closed: Promise<unknown>;
  readonly #client: Socket;
  readonly #database: Socket;
  readonly #statements: Direction;
  readonly #answers: Direction;

  constructor(client: Socket, database: Socket, onStatement: (bytes: Buffer) => void) {
    this.#client = client;
    this.#database = database;
    this.#statements = new Direction(client, database, onStatement);
    this.#answers = new Direction(database, client);
    this.closed = Promise.all([client, database].map((socket) => whenClosed(socket)));
  }

  get heldBytes(): number {
    return this.#statements.heldBytes + this.#answers.heldBytes;
  }

  break(place: Break): void {
    if (place === 'before the statement') this.destroy();
    // Before the listener that would pass the answer on.
    else this.#database.prependOnceListener('data', () => this.destroy());
  }

  cut(cut: Cut): void {
    if (cut === 'reset') {
      for (const socket of [this.#client, this.#database]) socket.resetAndDestroy();
    }
    if (cut === 'both' || cut === 'statements') this.#statements.hold();
    if (cut === 'both' || cut === 'answers') this.#answers.hold();
  }

  heal(): void {
    this.#statements.release();
    this.#answers.release();
  }

  destroy(): void {
    this.#client.destroy();
    this.#database.destroy();
  }
}

/** The end of a connection is held back as its bytes are: nobody hears of it. */
class Direction {
  readonly #to: Socket;
  readonly #onBytes: ((bytes: Buffer) => void) | undefined;
  #isHeld = false;
  #held: Buffer[] = [];
  #hasEnded = false;

  constructor(from: Socket, to: Socket, onBytes?: (bytes: Buffer) => void) {
    this.#to = to;
    this.#onBytes = onBytes;
    from.on('data', (bytes) => this.#take(bytes));
    from.once('end', () => this.#end());
    from.once('close', () => this.#end());
  }

  get heldBytes(): number {
    return this.#held.reduce((sum, { length }) => sum + length, 0);
  }

  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    for (const bytes of this.#held.splice(0)) this.#write(bytes);
    if (this.#hasEnded) this.#to.end();
  }

  #take(bytes: Buffer): void {
    this.#onBytes?.(bytes);
    if (this.#isHeld) this.#held.push(bytes);
    else this.#write(bytes);
  }

  #write(bytes: Buffer): void {
    if (this.#to.writable) this.#to.write(bytes);
  }

  #end(): void {
    this.#hasEnded = true;
    if (!this.#isHeld) this.#to.end();
  }
}

function whenClosed(socket: Socket): Promise<void> {
  // A cut connection fails at both ends, which is what the test is about.
  socket.on('error', () => {});
  return new Promise((resolve) => socket.once('close', () => resolve()));
}
