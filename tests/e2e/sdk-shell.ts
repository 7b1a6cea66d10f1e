import { CancelNotice, PushedTask, Welcome } from '@sluice/protocol';
import {
  type AbortReason,
  type Cancel,
  EventStreamParser,
  type HttpAnswer,
  type HttpRequest,
  type SessionNotice,
  type StreamEvent,
  type StreamListener,
  type WorkerPorts,
  WorkerSession,
  type WorkerSessionOptions,
} from '@sluice/sdk/logic';
import { type TSchema, Type } from 'typebox';
import { Value } from 'typebox/value';

const EVENT_SCHEMAS = new Map<string, TSchema>([
  ['welcome', Welcome],
  ['tasks', Type.Array(PushedTask)],
  ['cancel', CancelNotice],
]);

/**
 * Real requests, clocks and randomness around the SDK's logic. The test can cut every connection.
 */
export class SdkShell implements WorkerPorts {
  readonly session: WorkerSession;
  readonly notices: SessionNotice[] = [];
  readonly aborts: AbortReason[] = [];
  /** How often each task was run. */
  readonly runs = new Map<string, number>();
  /** Events that violate the contract. */
  readonly strangeEvents: StreamEvent[] = [];
  finished = 0;
  /** Current URL of the server. */
  url: string;
  private readonly connections = new Set<AbortController>();

  constructor(url: string, options: Omit<WorkerSessionOptions, 'addresses'>) {
    this.url = url;
    this.session = new WorkerSession({ ...options, addresses: 1 }, this);
  }

  /** Breaks all open connections, like a network failure. */
  cut(): void {
    for (const connection of this.connections) connection.abort();
  }

  get isOver(): boolean {
    return this.notices.some(({ type }) => type === 'over');
  }

  send(request: HttpRequest, answered: (answer: HttpAnswer | undefined) => void): Cancel {
    return this.exchange(request, async (response) => answered(await answerOf(response)), answered);
  }

  openStream(request: HttpRequest, listener: StreamListener): Cancel {
    const parser = new EventStreamParser((event) => this.inspect(event));
    const read = async (response: Response): Promise<void> => {
      if (response.status !== 200) {
        listener.ended(await answerOf(response));
        return;
      }
      for await (const chunk of response.body ?? []) {
        parser.push(chunk);
        listener.bytes(chunk);
      }
      listener.ended();
    };
    return this.exchange(request, read, () => listener.ended());
  }

  now(): number {
    return performance.now();
  }

  wallTime(): number {
    return Date.now();
  }

  random(): number {
    return Math.random();
  }

  startTimer(delayMs: number, run: () => void): Cancel {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  }

  atEndOfTurn(run: () => void): void {
    setImmediate(run);
  }

  run({ id, lease, input }: PushedTask): void {
    this.runs.set(id, (this.runs.get(id) ?? 0) + 1);
    setImmediate(() => {
      this.session.finish(lease, { kind: 'succeeded', output: JSON.stringify({ echo: input }) });
      this.finished += 1;
    });
  }

  abort(_lease: string, reason: AbortReason): void {
    this.aborts.push(reason);
  }

  signal(): void {}

  notify(notice: SessionNotice): void {
    this.notices.push(notice);
  }

  /** A cancelled exchange calls nothing back. An exchange that is cut calls `failed`. */
  private exchange(
    { method, path, body }: HttpRequest,
    read: (response: Response) => Promise<void>,
    failed: (nothing: undefined) => void,
  ): Cancel {
    const connection = new AbortController();
    let isWanted = true;
    const ifWanted =
      <T>(run: (value: T) => unknown) =>
      (value: T) =>
        isWanted ? run(value) : undefined;
    this.connections.add(connection);
    fetch(`${this.url}${path}`, { method, body: body ?? null, signal: connection.signal })
      .then(ifWanted(read))
      .catch(ifWanted(() => failed(undefined)))
      .finally(() => this.connections.delete(connection));
    return () => {
      isWanted = false;
      connection.abort();
    };
  }

  private inspect(event: StreamEvent): void {
    const schema = EVENT_SCHEMAS.get(event.name);
    if (schema === undefined && ['ping', 'drain'].includes(event.name)) return;
    const isRight = schema !== undefined && Value.Check(schema, JSON.parse(event.data));
    if (!isRight) this.strangeEvents.push(event);
  }
}

async function answerOf(response: Response): Promise<HttpAnswer> {
  const retryAfter = response.headers.get('retry-after');
  const text = await response.text();
  return { status: response.status, text, ...(retryAfter === null ? {} : { retryAfter }) };
}
