/** Calls a server that has access keys, with a chosen key. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Role } from '@sluice/protocol';

const TRIES_MAX = 100;
const AGAIN_MS = 100;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // Tests read whatever they expect to be there; a wrong guess fails the test.
  // biome-ignore lint/suspicious/noExplicitAny: answers have many shapes
  readonly body: any;
}

export interface Call {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

export class KeyedApi {
  private readonly url: string;
  /** Undefined for a caller without a key. */
  readonly key: string | undefined;

  constructor(url: string, key?: string) {
    this.url = url;
    this.key = key;
  }

  as(key: string | undefined): KeyedApi {
    return new KeyedApi(this.url, key);
  }

  get(path: string): Promise<Answer> {
    return this.call({ method: 'GET', path });
  }

  post(path: string, body?: unknown): Promise<Answer> {
    return this.call({ method: 'POST', path, body });
  }

  /** Creates a key and returns its text. */
  async keyFor(role: Role, namespace: string): Promise<string> {
    const { status, body } = await this.post('/v1/keys', { role, namespace, name: `a ${role}` });
    if (status !== 201) throw new Error(`no key: ${JSON.stringify(body)}`);
    return body.key as string;
  }

  /**
   * For a stream, it waits only for the head and then drops the connection. A server that a busy
   * machine kept waiting asks for the request again.
   */
  async call(call: Call): Promise<Answer> {
    for (let tries = 1; ; tries++) {
      const answer = await this.send(call);
      const { message } = answer.body?.error ?? {};
      const wasSuspended = typeof message === 'string' && message.includes('was suspended');
      if (!wasSuspended || tries === TRIES_MAX) return answer;
      await sleep(AGAIN_MS);
    }
  }

  private async send({ method, path, body }: Call): Promise<Answer> {
    const dropped = new AbortController();
    const response = await fetch(this.url + path, {
      method,
      signal: dropped.signal,
      headers: this.key === undefined ? {} : { authorization: `Bearer ${this.key}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const { status, headers } = response;
    const type = headers.get('content-type') ?? '';
    if (type.startsWith('text/event-stream') || type === 'application/octet-stream') {
      dropped.abort();
      return { status, headers, body: undefined };
    }
    const text = await response.text();
    const isJson = headers.get('content-type')?.startsWith('application/json') ?? false;
    return { status, headers, body: isJson && text !== '' ? JSON.parse(text) : text };
  }
}
