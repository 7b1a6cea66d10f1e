import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { waitUntil } from './wait-until.ts';

const TIMEOUT_MS = 60_000;

/** A connection on which a test sends raw bytes that no client would send. */
export class RawConnection {
  readonly socket: Socket;
  private received = '';
  private closed = false;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding('latin1').on('data', (text: string) => {
      this.received += text;
    });
    // A connection that is reset is closed like any other.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.closed = true;
    });
  }

  static async open(url: string): Promise<RawConnection> {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    await once(socket, 'connect');
    return new RawConnection(socket);
  }

  get text(): string {
    return this.received;
  }

  get isClosed(): boolean {
    return this.closed;
  }

  send(text: string): void {
    this.socket.write(text, 'latin1');
  }

  /** Resolves when the server has closed the connection; returns everything that it sent. */
  async whenClosed(): Promise<string> {
    await waitUntil(() => this.closed, { what: 'the connection is closed', timeoutMs: TIMEOUT_MS });
    return this.received;
  }

  /** Resolves when the server has sent something that matches. */
  async heard(pattern: RegExp): Promise<string> {
    const what = `the server says ${pattern}`;
    await waitUntil(() => pattern.test(this.received), { what, timeoutMs: TIMEOUT_MS });
    return this.received;
  }

  destroy(): void {
    this.socket.destroy();
  }
}

/** Status and error of a complete answer over HTTP/1.1. */
export function errorOf(answer: string): { status: number; code: string; requestId: string } {
  const [head, body] = answer.split('\r\n\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]);
  const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1]);
  if (length !== Buffer.byteLength(body, 'latin1')) throw new Error(`not whole: ${answer}`);
  const { error } = JSON.parse(body) as {
    error: { code: string; requestId: string; message: string; details: unknown[] };
  };
  if (error.message === '' || !Array.isArray(error.details)) throw new Error(`no error: ${body}`);
  return { status, code: error.code, requestId: error.requestId };
}
