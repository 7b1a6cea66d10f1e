import { EventEmitter } from 'node:events';
import type { ClusterNetwork, Pipe } from './cluster-network.ts';

/** A request as it travels. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Who takes part in exchanges: a process on a machine. */
export interface Party {
  readonly host: string;
  /** Runs in the process; never when it is gone, and later while it is stopped. */
  hear(run: () => void): void;
}

/** What the asking side gets to know, in this order. Nothing follows `ended`. */
export interface NearSide {
  connected(): void;
  head(status: number, headers: Readonly<Record<string, string>>): void;
  bytes(chunk: Uint8Array): void;
  ended(how: 'whole' | 'broken' | 'refused'): void;
}

export interface WireListener extends Party {
  handle(request: SimIncoming, response: SimResponse): void;
}

/** Who listens on which machine, and the connections to it. */
export class Exchanges {
  private readonly network: ClusterNetwork;
  private readonly listeners = new Map<string, WireListener>();
  private readonly open = new Set<WireExchange>();

  constructor(network: ClusterNetwork) {
    this.network = network;
  }

  listen(listener: WireListener): void {
    this.listeners.set(listener.host, listener);
  }

  listenerAt(host: string): WireListener | undefined {
    return this.listeners.get(host);
  }

  /** The process has ended. Its machine closes its connections and refuses others. */
  gone(host: string): void {
    this.listeners.delete(host);
    for (const exchange of this.open) exchange.partyGone(host);
  }

  /** Asks whoever listens at `to`. */
  ask(from: Party, to: string, request: WireRequest, near: NearSide): WireExchange {
    const pipes = {
      out: this.network.pipe(from.host, to),
      back: this.network.pipe(to, from.host),
    };
    const exchange = new WireExchange({ exchanges: this, from, to, request, near, ...pipes });
    this.open.add(exchange);
    exchange.connect();
    return exchange;
  }

  closed(exchange: WireExchange): void {
    this.open.delete(exchange);
  }
}

interface WireParts {
  readonly exchanges: Exchanges;
  readonly from: Party;
  readonly to: string;
  readonly request: WireRequest;
  readonly near: NearSide;
  readonly out: Pipe;
  readonly back: Pipe;
}

/** One request and its answer, over a connection that is made for it. */
export class WireExchange {
  private readonly parts: WireParts;
  private response: SimResponse | undefined;
  private isOver = false;

  constructor(parts: WireParts) {
    this.parts = parts;
  }

  connect(): void {
    const { exchanges, to, out, near } = this.parts;
    out(() => {
      const listener = exchanges.listenerAt(to);
      if (listener === undefined) return this.end('refused');
      this.toNear(() => near.connected());
    });
  }

  /** Sends the request. */
  send(): void {
    const { exchanges, to, out, request, back } = this.parts;
    out(() => {
      const listener = exchanges.listenerAt(to);
      if (listener === undefined) return this.end('broken');
      const response = new SimResponse(request, {
        head: (status, headers) => this.toNear(() => this.parts.near.head(status, headers)),
        bytes: (chunk) => this.toNear(() => this.parts.near.bytes(chunk)),
        ended: (how) => this.end(how),
        written: (run) => back(() => listener.hear(run)),
      });
      this.response = response;
      listener.hear(() => listener.handle(new SimIncoming(request), response));
    });
  }

  /** The asking side hangs up, and the other one notices. */
  abandon(): void {
    if (this.isOver) return;
    this.isOver = true;
    const { exchanges, to, out } = this.parts;
    exchanges.closed(this);
    out(() => exchanges.listenerAt(to)?.hear(() => this.response?.leftAlone()));
  }

  /** The process on one side has ended. */
  partyGone(host: string): void {
    if (this.parts.to === host) this.end('broken');
    if (this.parts.from.host === host) this.abandon();
  }

  private toNear(run: () => void): void {
    const { from, back } = this.parts;
    back(() => from.hear(() => !this.isOver && run()));
  }

  private end(how: 'whole' | 'broken' | 'refused'): void {
    this.toNear(() => {
      this.isOver = true;
      this.parts.exchanges.closed(this);
      this.parts.near.ended(how);
    });
  }
}

/** A request as a server gets it: as much of `IncomingMessage` as its readers need. */
export class SimIncoming extends EventEmitter {
  readonly method: string;
  readonly url: string;
  readonly body: string;
  readonly headers: Record<string, string | undefined>;
  readonly rawHeaders: readonly string[] = [];
  readonly httpVersionMajor = 1;
  readonly complete = true;
  private hasFlown = false;

  constructor({ method, path, headers, body }: WireRequest) {
    super();
    this.method = method;
    this.url = path;
    this.body = body;
    const length = body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    this.headers = { ...headers, ...length };
  }

  override on(event: string, listener: (...given: never[]) => void): this {
    super.on(event, listener as never);
    if (event === 'data' && !this.hasFlown) {
      this.hasFlown = true;
      queueMicrotask(() => {
        this.emit('data', Buffer.from(this.body));
        this.emit('end');
      });
    }
    return this;
  }
}

interface ResponseWire {
  head(status: number, headers: Readonly<Record<string, string>>): void;
  bytes(chunk: Uint8Array): void;
  ended(how: 'whole' | 'broken'): void;
  /** The bytes have left. */
  written(run: () => void): void;
}

/** An answer as a server writes it: as much of `ServerResponse` as its writers need. */
export class SimResponse extends EventEmitter {
  readonly request: WireRequest;
  headersSent = false;
  writableEnded = false;
  writableFinished = false;
  /** The status that was sent; 0 before. */
  status = 0;
  private readonly wire: ResponseWire;
  private isClosed = false;

  constructor(request: WireRequest, wire: ResponseWire) {
    super();
    this.request = request;
    this.wire = wire;
  }

  writeHead(status: number, headers: Readonly<Record<string, string>> = {}): this {
    this.headersSent = true;
    this.status = status;
    this.wire.head(status, headers);
    return this;
  }

  flushHeaders(): void {}

  write(bytes: Uint8Array | string, written?: (error?: Error | null) => void): boolean {
    if (this.isClosed) return true;
    this.wire.bytes(Uint8Array.from(Buffer.from(bytes as Uint8Array)));
    if (written !== undefined) this.wire.written(() => written(null));
    return true;
  }

  end(bytes?: Uint8Array | string): this {
    if (this.writableEnded) return this;
    if (bytes !== undefined) this.write(bytes);
    this.writableEnded = true;
    this.writableFinished = true;
    this.wire.ended('whole');
    this.close();
    return this;
  }

  destroy(): this {
    if (this.isClosed) return this;
    this.writableEnded = true;
    this.wire.ended('broken');
    this.close();
    return this;
  }

  /** The other side has hung up. */
  leftAlone(): void {
    this.close();
  }

  private close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    queueMicrotask(() => this.emit('close'));
  }
}
