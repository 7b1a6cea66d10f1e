import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';

/** One clear-text HTTP/2 connection; requests are streams and may overlap. */
export class Http2Connection {
  private readonly session: ClientHttp2Session;

  constructor(url: URL) {
    this.session = connect(url.origin, { settings: { initialWindowSize: 4 * 1024 * 1024 } });
    this.session.on('connect', () => this.session.setLocalWindowSize(4 * 1024 * 1024));
    this.session.on('error', (error) => {
      throw error;
    });
  }

  post(path: string, body: string): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const stream = this.open(path, body);
      const chunks: Buffer[] = [];
      stream.on('response', (headers) => {
        const status = Number(headers[':status']);
        if (status >= 300) reject(new Error(`the server answered ${status}`));
      });
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
      stream.on('error', reject);
    });
  }

  stream(path: string, body: string, onChunk: (content: Buffer) => void): void {
    this.open(path, body).on('data', onChunk);
  }

  close(): void {
    this.session.destroy();
  }

  private open(path: string, body: string): ClientHttp2Stream {
    const stream = this.session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    });
    stream.end(body);
    return stream;
  }
}
