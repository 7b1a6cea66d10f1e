import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One callback as it arrived. */
export interface Received {
  readonly id: string;
  /** The type of the change, such as `task.succeeded`. */
  readonly type: string;
  readonly at: string;
  // Tests read whatever they expect to be there.
  // biome-ignore lint/suspicious/noExplicitAny: tasks have many shapes
  readonly task: any;
  readonly headers: IncomingMessage['headers'];
  readonly path: string;
  readonly isSigned: boolean;
}

type Answer = (response: ServerResponse, received: Received) => unknown;

/** A receiver of callbacks in this process. */
export class CallbackReceiver {
  readonly received: Received[] = [];
  /** How it answers; may be changed at any time. */
  answer: Answer = (response) => response.end();
  private readonly server: Server;
  private readonly secret: string;

  private constructor(secret: string) {
    this.secret = secret;
    this.server = createServer((request, response) => void this.take(request, response));
  }

  /** `secret` is in base64. */
  static async start(secret = '', port = 0, host = '127.0.0.1'): Promise<CallbackReceiver> {
    const receiver = new CallbackReceiver(secret);
    receiver.server.listen(port, host);
    await once(receiver.server, 'listening');
    return receiver;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  of(taskId: string): Received[] {
    return this.received.filter(({ task }) => task.id === taskId);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat(await request.toArray());
    const { headers } = request;
    const { type, timestamp, data } = JSON.parse(body.toString());
    const id = String(headers['webhook-id']);
    const rest = { headers, path: request.url ?? '', isSigned: this.isSigned(headers, body) };
    const received = { id, type, at: timestamp, task: data, ...rest };
    this.received.push(received);
    this.answer(response, received);
  }

  /** Checks the signature over the received bytes, as the published scheme says. */
  private isSigned(headers: IncomingMessage['headers'], body: Buffer): boolean {
    const hmac = createHmac('sha256', Buffer.from(this.secret, 'base64'));
    hmac.update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.`);
    const expected = `v1,${hmac.update(body).digest('base64')}`;
    return String(headers['webhook-signature']).split(' ').includes(expected);
  }
}
