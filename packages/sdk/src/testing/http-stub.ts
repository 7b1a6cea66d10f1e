import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface StubRequest {
  readonly method: string;
  readonly path: string;
  readonly key: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect to be there
  readonly body: any;
  /** Breaks the connection instead of answering. */
  drop(): void;
  /** For answers that are not JSON, or that come later. */
  readonly response: ServerResponse;
}

/** The answer: a body for 200, a status and a body, or undefined when the test answers itself. */
export type StubAnswer = { status?: number; body: unknown } | undefined;

/** A server on a real socket. The test supplies its answers. */
export class HttpStub {
  readonly requests: StubRequest[] = [];
  answer: (request: StubRequest) => StubAnswer = () => undefined;
  url = '';
  private readonly server = createServer((request, response) => {
    this.take(request, response).catch(() => response.destroy());
  });

  async start(): Promise<void> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    this.url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  /** The bodies of the requests to a path. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect to be there
  bodiesTo(path: string): any[] {
    return this.requests.filter((request) => request.path === path).map(({ body }) => body);
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    const stub = {
      method: request.method ?? '',
      path: request.url ?? '',
      key: request.headers.authorization,
      body: text === '' ? undefined : JSON.parse(text),
      drop: () => request.socket.destroy(),
      response,
    };
    this.requests.push(stub);
    const answer = this.answer(stub);
    if (answer === undefined) return;
    response.writeHead(answer.status ?? 200).end(JSON.stringify(answer.body));
  }
}

/** An answer in the format of every error. */
export function refused(status: number, code: string, path = ''): StubAnswer {
  const details = [{ path, problem: 'is bad' }];
  return { status, body: { error: { code, message: `no: ${code}`, details } } };
}
