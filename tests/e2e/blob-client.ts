/** Uploads and downloads over both protocols, like any client. */
import { createHash } from 'node:crypto';
import { connect } from 'node:http2';
import type { Protocol } from '../support/http-client.ts';

export interface BlobAnswer {
  readonly status: number;
  readonly text: string;
}

export function sha256Of(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Unique JSON of about this size. */
export function largeJson(bytes: number): string {
  return JSON.stringify({ salt: Math.random(), filler: 'x'.repeat(bytes) });
}

export class BlobClient {
  private readonly url: string;
  private readonly protocol: Protocol;

  constructor(url: string, protocol: Protocol = 'http1') {
    this.url = url;
    this.protocol = protocol;
  }

  put(content: string, sha256 = sha256Of(content)): Promise<BlobAnswer> {
    return this.call('PUT', `/v1/blobs/${sha256}`, content);
  }

  get(sha256: string): Promise<BlobAnswer> {
    return this.call('GET', `/v1/blobs/${sha256}`);
  }

  private async call(method: string, path: string, body?: string): Promise<BlobAnswer> {
    if (this.protocol === 'h2c') return this.callHttp2(method, path, body);
    const response = await fetch(this.url + path, { method, ...(body && { body }) });
    return { status: response.status, text: await response.text() };
  }

  private callHttp2(method: string, path: string, body?: string): Promise<BlobAnswer> {
    const session = connect(this.url);
    return new Promise<BlobAnswer>((resolve, reject) => {
      session.on('error', reject);
      const head = { ':method': method, ':path': path };
      const stream = session.request(head, { endStream: body === undefined });
      let status = 0;
      const chunks: Buffer[] = [];
      stream.on('response', (headers) => {
        status = Number(headers[':status']);
      });
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('error', reject);
      stream.on('end', () => resolve({ status, text: Buffer.concat(chunks).toString() }));
      if (body !== undefined) stream.end(body);
    }).finally(() => session.close());
  }
}
