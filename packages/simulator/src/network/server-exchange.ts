import type { StreamSink } from '@sluice/server';
import type { SimProcess } from '../kernel/sim-process.ts';
import type { CallAnswer } from './call.ts';
import type { ClientSide, Exchange, ExchangeRequest } from './exchange.ts';

export interface ExchangeOptions {
  readonly id: number;
  readonly from: SimProcess;
  readonly request: ExchangeRequest;
  readonly client: ClientSide;
  readonly after: (delayMs: number, run: () => void) => () => void;
  readonly now: () => number;
  /** The delay of a message that is sent now. */
  readonly delay: () => number;
  /** Whether the connection breaks during this write, and after how many bytes. */
  readonly cutsNow: () => boolean;
  readonly cutAt: (length: number) => number;
  readonly noteCut: () => void;
  readonly closed: (exchange: ServerExchange) => void;
}

/**
 * The server's end of an exchange. To the server's streams it looks like an HTTP response. Its
 * bytes arrive at the client later, in order, truncated, or not at all.
 */
export class ServerExchange implements Exchange, StreamSink {
  readonly id: number;
  readonly from: SimProcess;
  readonly request: ExchangeRequest;
  /** Set when the request has arrived. */
  server: SimProcess | undefined;
  /** Receives a copy of what the server writes, if set. */
  tap: ((bytes: Uint8Array) => void) | undefined;
  headersSent = false;
  writableEnded = false;
  /** When the last written bytes arrive. */
  private lastArrival = 0;
  private isClosedForClient = false;
  private isClosedForServer = false;
  /** Nothing that is written from now on arrives. */
  private isCut = false;
  private readonly options: ExchangeOptions;
  private readonly closeListeners: (() => void)[] = [];

  constructor(options: ExchangeOptions) {
    this.options = options;
    this.id = options.id;
    this.from = options.from;
    this.request = options.request;
  }

  /** Sends the whole answer. */
  answer({ status, body, requestKey }: CallAnswer): void {
    this.headersSent = true;
    this.toClient((client) => client.head(status, requestKey));
    this.write(Buffer.from(body));
    this.end();
  }

  writeHead(status: number): this {
    this.headersSent = true;
    this.toClient((client) => client.head(status));
    return this;
  }

  write(bytes: Buffer, written?: (error?: Error | null) => void): boolean {
    this.tap?.(bytes);
    if (this.options.cutsNow()) {
      this.options.noteCut();
      const part = bytes.subarray(0, this.options.cutAt(bytes.length));
      this.toClient((client) => client.bytes(part));
      this.isCut = true;
      this.breakFor('client', this.lastArrival - this.options.now() + 1e-6);
      this.breakFor('server', this.options.delay());
      return false;
    }
    // The server reuses its buffer, so the network needs a copy.
    const copy = Uint8Array.from(bytes);
    this.toClient((client) => client.bytes(copy));
    this.server?.after(this.options.delay(), () => written?.(null));
    return true;
  }

  end(): this {
    if (this.writableEnded) return this;
    this.writableEnded = true;
    this.toClient((client) => this.endFor(client, 'whole'));
    this.closeForServer(this.options.delay());
    return this;
  }

  destroy(): this {
    this.writableEnded = true;
    this.breakFor('client', this.options.delay());
    this.closeForServer(0);
    return this;
  }

  on(_event: 'error', _listener: () => void): this {
    return this;
  }

  once(_event: 'close', listener: () => void): this {
    this.closeListeners.push(listener);
    return this;
  }

  /** The client gives up. It receives nothing more, and the server notices later. */
  giveUp(): void {
    if (this.isClosedForClient) return;
    this.isClosedForClient = true;
    this.closeForServer(this.options.delay());
  }

  /** One side learns that the connection is broken. */
  breakFor(side: 'client' | 'server', delayMs: number): void {
    if (side === 'server') this.closeForServer(delayMs);
    else {
      this.options.after(delayMs, () => {
        this.inClient(() => this.endFor(this.options.client, 'broken'));
      });
    }
  }

  private closeForServer(delayMs: number): void {
    this.options.after(delayMs, () => {
      this.server?.hear(() => {
        if (this.isClosedForServer) return;
        this.isClosedForServer = true;
        this.options.closed(this);
        for (const listener of this.closeListeners) listener();
      });
    });
  }

  private toClient(tell: (client: ClientSide) => void): void {
    if (this.isCut) return;
    const { now, delay, after, client } = this.options;
    // Slightly later than the previous write, so that it cannot overtake it.
    this.lastArrival = Math.max(this.lastArrival + 1e-6, now() + delay());
    after(this.lastArrival - now(), () => this.inClient(() => tell(client)));
  }

  private inClient(run: () => void): void {
    this.from.hear(() => {
      if (!this.isClosedForClient) run();
    });
  }

  private endFor(client: ClientSide, how: 'whole' | 'broken'): void {
    this.isClosedForClient = true;
    client.ended(how);
  }
}
