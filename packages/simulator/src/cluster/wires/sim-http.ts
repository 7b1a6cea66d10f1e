import { EventEmitter } from 'node:events';
import type { Exchanges, Party, WireExchange, WireRequest } from './exchange.ts';

interface RequestOptions {
  readonly method?: string;
  readonly path?: string;
  readonly host?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly timeout?: number;
}

type OnAnswer = (answer: SimAnswer) => void;

/** `request` of `node:http` for the processes of one machine. */
export function requestOn(exchanges: Exchanges, party: Party, onSend: (name?: string) => void) {
  return (target: URL | RequestOptions, ...given: readonly unknown[]): SimUpstream => {
    const isUrl = target instanceof URL;
    const options = (isUrl ? given[0] : target) as RequestOptions;
    const host = isUrl ? target.hostname : (options.host ?? '');
    const path = isUrl ? target.pathname : (options.path ?? '/');
    const onAnswer = given.at(-1);
    onSend(options.headers?.['sim-request'] as string | undefined);
    const upstream = new SimUpstream({ exchanges, party, host, path, options });
    if (typeof onAnswer === 'function') upstream.once('response', onAnswer as OnAnswer);
    return upstream;
  };
}

interface UpstreamParts {
  readonly exchanges: Exchanges;
  readonly party: Party;
  readonly host: string;
  readonly path: string;
  readonly options: RequestOptions;
}

/** The socket of a request that is being made: it has only what the owner's peers look at. */
class UpstreamSocket extends EventEmitter {
  connecting = true;

  destroy(): void {}
}

/** As much of `ClientRequest` as forwarding and probes need. */
export class SimUpstream extends EventEmitter {
  readonly socket = new UpstreamSocket();
  destroyed = false;
  writableEnded = false;
  private readonly parts: UpstreamParts;
  private exchange: WireExchange | undefined;
  private answer: SimAnswer | undefined;
  private readonly silence: NodeJS.Timeout | undefined;

  constructor(parts: UpstreamParts) {
    super();
    this.parts = parts;
    const { timeout } = parts.options;
    if (timeout !== undefined) this.silence = setTimeout(() => this.emit('timeout'), timeout);
  }

  end(body?: Buffer): this {
    this.writableEnded = true;
    const { exchanges, party, host, path, options } = this.parts;
    const request: WireRequest = {
      method: options.method ?? 'GET',
      path,
      headers: textsOf(options.headers ?? {}),
      body: body?.toString() ?? '',
    };
    const exchange = exchanges.ask(party, host, request, {
      connected: () => {
        this.socket.connecting = false;
        this.socket.emit('connect');
        exchange.send();
      },
      head: (status, headers) => this.headed(status, headers),
      bytes: (chunk) => this.answer?.take(chunk),
      ended: (how) => this.ended(how),
    });
    this.exchange = exchange;
    queueMicrotask(() => this.emit('socket', this.socket));
    return this;
  }

  destroy(cause?: Error): this {
    if (this.destroyed) return this;
    this.exchange?.abandon();
    this.close(cause);
    return this;
  }

  private headed(status: number, headers: Readonly<Record<string, string>>): void {
    clearTimeout(this.silence);
    this.answer = new SimAnswer(status, headers, () => this.destroy());
    this.emit('response', this.answer);
  }

  private ended(how: 'whole' | 'broken' | 'refused'): void {
    this.answer?.finish(how === 'whole');
    if (how === 'whole') return this.close();
    const code = how === 'refused' ? 'ECONNREFUSED' : 'ECONNRESET';
    this.close(this.answer === undefined ? Object.assign(new Error(code), { code }) : undefined);
  }

  private close(cause?: Error): void {
    if (this.destroyed) return;
    this.destroyed = true;
    clearTimeout(this.silence);
    this.answer?.finish(false);
    queueMicrotask(() => {
      if (cause !== undefined) this.emit('error', cause);
      this.emit('close');
    });
  }
}

/** An answer as the asking server reads it. */
export class SimAnswer extends EventEmitter {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  complete = false;
  private readonly hangUp: () => void;
  private readonly chunks: Uint8Array[] = [];
  private isFlowing = false;
  private isOver = false;

  constructor(status: number, headers: Readonly<Record<string, string>>, hangUp: () => void) {
    super();
    this.statusCode = status;
    this.headers = headers;
    this.hangUp = hangUp;
  }

  take(chunk: Uint8Array): void {
    if (this.isFlowing) this.emit('data', Buffer.from(chunk));
    else this.chunks.push(chunk);
  }

  /** Everything has come, or nothing more comes. */
  finish(isWhole: boolean): void {
    if (this.isOver) return;
    this.isOver = true;
    this.complete = isWhole;
    if (this.isFlowing) this.sayEnd();
  }

  override on(event: string, listener: (...given: never[]) => void): this {
    super.on(event, listener as never);
    if (event === 'data') this.resume();
    return this;
  }

  resume(): this {
    if (this.isFlowing) return this;
    this.isFlowing = true;
    queueMicrotask(() => {
      for (const chunk of this.chunks.splice(0)) this.emit('data', Buffer.from(chunk));
      if (this.isOver) this.sayEnd();
    });
    return this;
  }

  pause(): this {
    return this;
  }

  destroy(): this {
    this.hangUp();
    return this;
  }

  private sayEnd(): void {
    queueMicrotask(() => {
      if (this.complete) this.emit('end');
      this.emit('close');
    });
  }
}

function textsOf(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
