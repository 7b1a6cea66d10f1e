import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import type { EngineProblem } from '../logic/engine-failure.ts';

/** The engine refused something; status 0 when it did not answer. */
export class EngineError extends Error implements EngineProblem {
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

export interface EngineCall {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Milliseconds without a byte after which the engine counts as gone; 0 for never. */
  readonly silenceMs?: number;
}

/** A busy engine makes and removes containers slowly; one that hangs answers nothing at all. */
const SILENCE_MS = 120_000;

/** Speaks HTTP with a container engine over its local socket. */
export class EngineSocket {
  readonly path: string;
  private readonly agent = new Agent({ keepAlive: true, maxFreeSockets: 16 });

  constructor(path: string) {
    this.path = path;
  }

  /** The answer as JSON; undefined when it is empty. */
  async json<T>(call: EngineCall): Promise<T> {
    const answer = await this.open(call);
    const text = await textOf(answer);
    try {
      return (text === '' ? undefined : JSON.parse(text)) as T;
    } catch (cause) {
      throw new EngineError(0, 'its answer broke off', { cause });
    }
  }

  /** Hands on the answer as it arrives, and resolves at its end. */
  async stream(call: EngineCall, onBytes: (bytes: Uint8Array) => void): Promise<void> {
    const answer = await this.open({ silenceMs: 0, ...call });
    try {
      for await (const chunk of answer) onBytes(chunk as Uint8Array);
    } catch (cause) {
      throw noAnswer(cause);
    }
  }

  /** The connection itself, which the engine hands over for standard input. */
  upgrade(call: EngineCall): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const headers = { ...call.headers, connection: 'Upgrade', upgrade: 'tcp' };
      const sent = this.send({ ...call, headers });
      sent.once('upgrade', (_answer, socket, head) => {
        // Bytes that came with the answer.
        if (head.length > 0) socket.unshift(head);
        resolve(socket as Socket);
      });
      sent.once('response', (answer) => {
        textOf(answer).then((text) => reject(refused(answer, text)), reject);
      });
      sent.once('error', (cause) => reject(noAnswer(cause)));
      sent.end();
    });
  }

  close(): void {
    this.agent.destroy();
  }

  /** Resolves with an answer that is no refusal. */
  private open(call: EngineCall): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const sent = this.send(call);
      sent.once('response', (answer) => {
        const { statusCode = 0 } = answer;
        if (statusCode >= 200 && statusCode < 400) {
          resolve(answer);
          return;
        }
        textOf(answer).then((text) => reject(refused(answer, text)), reject);
      });
      sent.once('error', (cause) => reject(noAnswer(cause)));
      sent.end(call.body === undefined ? undefined : JSON.stringify(call.body));
    });
  }

  private send({ method, path, body, headers, signal, silenceMs }: EngineCall): ClientRequest {
    const sent = request({
      socketPath: this.path,
      agent: this.agent,
      method,
      path,
      headers: {
        host: 'engine',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      timeout: silenceMs ?? SILENCE_MS,
      ...(signal === undefined ? {} : { signal }),
    });
    sent.once('timeout', () => sent.destroy(new Error('it was silent for too long')));
    return sent;
  }
}

async function textOf(answer: IncomingMessage): Promise<string> {
  try {
    const chunks: Uint8Array[] = [];
    for await (const chunk of answer) chunks.push(chunk as Uint8Array);
    return Buffer.concat(chunks).toString();
  } catch (cause) {
    throw noAnswer(cause);
  }
}

function refused({ statusCode = 0 }: IncomingMessage, text: string): EngineError {
  return new EngineError(statusCode, messageIn(text));
}

/** Engines answer with `{"message": …}`; a proxy in between may not. */
function messageIn(text: string): string {
  try {
    const { message, cause } = JSON.parse(text) as { message?: string; cause?: string };
    return message ?? cause ?? text;
  } catch {
    return text.trim();
  }
}

function noAnswer(cause: unknown): EngineError {
  if (cause instanceof EngineError) return cause;
  return new EngineError(0, (cause as Error).message, { cause });
}
