import { Http1Connection } from './http1-connection.ts';
import { Http2Connection } from './http2-connection.ts';

export type Protocol = 'http1' | 'h2c';

/** What the generator and the worker need from either protocol. */
export interface Connection {
  post(path: string, body: string): Promise<Buffer>;
  stream(path: string, body: string, onChunk: (content: Buffer) => void): void;
  close(): void;
}

export function openConnection(protocol: Protocol, url: string): Connection {
  return protocol === 'http1'
    ? new Http1Connection(new URL(url))
    : new Http2Connection(new URL(url));
}

/** Two processes compare times in microseconds, so they use the clock that both share. */
export function wallClockMs(): number {
  return performance.timeOrigin + performance.now();
}
