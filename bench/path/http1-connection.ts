import { connect, type Socket } from 'node:net';

const HEADER_END = Buffer.from('\r\n\r\n');

/**
 * One keep-alive connection with one request at a time, on a bare socket. The generator must be
 * cheap, because it shares the machine with the server.
 */
export class Http1Connection {
  private readonly socket: Socket;
  private readonly host: string;
  private buffered: Buffer = Buffer.alloc(0);
  private answer: ((body: Buffer) => void) | undefined;
  /** Set for a stream: gets the content of each chunk. */
  private onChunk: ((content: Buffer) => void) | undefined;
  private headersSeen = false;

  constructor(url: URL) {
    this.host = url.host;
    this.socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true });
    this.socket.on('data', (data) => this.take(data));
    this.socket.on('error', (error) => {
      throw error;
    });
  }

  post(path: string, body: string): Promise<Buffer> {
    this.send(path, body);
    return new Promise((resolve) => {
      this.answer = resolve;
    });
  }

  /** Opens an endless answer. `onChunk` gets its content as it arrives. */
  stream(path: string, body: string, onChunk: (content: Buffer) => void): void {
    this.onChunk = onChunk;
    this.send(path, body);
  }

  close(): void {
    this.socket.destroy();
  }

  private send(path: string, body: string): void {
    const length = Buffer.byteLength(body);
    this.socket.write(
      `POST ${path} HTTP/1.1\r\nhost: ${this.host}\r\ncontent-type: application/json\r\n` +
        `content-length: ${length}\r\n\r\n${body}`,
    );
  }

  private take(data: Buffer): void {
    this.buffered = this.buffered.length === 0 ? data : Buffer.concat([this.buffered, data]);
    if (this.onChunk === undefined) this.takeAnswer();
    else this.takeChunks(this.onChunk);
  }

  private takeAnswer(): void {
    const end = this.buffered.indexOf(HEADER_END);
    if (end < 0) return;
    const head = this.buffered.toString('latin1', 0, end);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    const total = end + HEADER_END.length + length;
    if (this.buffered.length < total) return;
    if (!/^HTTP\/1.1 20/.test(head)) throw new Error(`the server answered ${head}`);
    const body = this.buffered.subarray(end + HEADER_END.length, total);
    this.buffered = this.buffered.subarray(total);
    this.answer?.(body);
  }

  private takeChunks(onChunk: (content: Buffer) => void): void {
    if (!this.headersSeen) {
      const end = this.buffered.indexOf(HEADER_END);
      if (end < 0) return;
      this.headersSeen = true;
      this.buffered = this.buffered.subarray(end + HEADER_END.length);
    }
    for (;;) {
      const lineEnd = this.buffered.indexOf('\r\n');
      if (lineEnd < 0) return;
      const size = Number.parseInt(this.buffered.toString('latin1', 0, lineEnd), 16);
      const end = lineEnd + 2 + size + 2;
      if (this.buffered.length < end) return;
      onChunk(this.buffered.subarray(lineEnd + 2, end - 2));
      this.buffered = this.buffered.subarray(end);
    }
  }
}
