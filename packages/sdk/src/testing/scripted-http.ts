import type {
  Cancel,
  HttpAnswer,
  HttpRequest,
  RequestKey,
  RequestPort,
  StreamListener,
  StreamPort,
} from '../base/ports.ts';

/** A request that the test answers or leaves unanswered. */
export class ScriptedRequest {
  readonly address: number;
  readonly method: string;
  readonly path: string;
  /** The JSON of the body; `undefined` when there was none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect to be there
  readonly body: any;
  readonly bodyText: string;
  readonly requestKey: RequestKey | undefined;
  isCancelled = false;
  private readonly answered: (answer: HttpAnswer | undefined) => void;

  constructor(request: HttpRequest, answered: (answer: HttpAnswer | undefined) => void) {
    this.address = request.address;
    this.method = request.method;
    this.path = request.path;
    this.bodyText = request.body ?? '';
    this.requestKey = request.requestKey;
    this.body = request.body === undefined ? undefined : JSON.parse(request.body);
    this.answered = answered;
  }

  answer(body: unknown, status = 200): void {
    this.answered({ status, text: JSON.stringify(body) ?? '' });
  }

  /** Answers like a server that remembers the request by its key. */
  confirm(body: unknown, status = 201): void {
    const key = this.requestKey?.key;
    const confirmed = key === undefined ? {} : { requestKey: key };
    this.answered({ status, text: JSON.stringify(body) ?? '', ...confirmed });
  }

  /** Answers in the format of every error. */
  refuse(status: number, code: string, more: { path?: string; retryAfter?: string } = {}): void {
    this.answered(refusalWith(status, code, more));
  }

  /** The connection broke before the answer was complete. */
  fail(): void {
    this.answered(undefined);
  }
}

export class ScriptedStream {
  readonly address: number;
  readonly lastEventId: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect to be there
  readonly body: any;
  isClosed = false;
  private readonly listener: StreamListener;

  constructor(request: HttpRequest, listener: StreamListener) {
    this.address = request.address;
    this.lastEventId = request.lastEventId;
    this.body = request.body === undefined ? undefined : JSON.parse(request.body);
    this.listener = listener;
  }

  /** Answers with status 200. */
  open(): void {
    this.listener.opened?.();
  }

  push(event: string, data: unknown): void {
    this.bytes(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  bytes(text: string): void {
    this.listener.bytes(new TextEncoder().encode(text));
  }

  end(): void {
    this.listener.ended();
  }

  refuse(status: number, code: string, more: { retryAfter?: string } = {}): void {
    this.listener.ended(refusalWith(status, code, more));
  }
}

/** A network in which the test is the server. */
export class ScriptedHttp implements RequestPort, StreamPort {
  readonly requests: ScriptedRequest[] = [];
  readonly streams: ScriptedStream[] = [];

  send(request: HttpRequest, answered: (answer: HttpAnswer | undefined) => void): Cancel {
    const scripted = new ScriptedRequest(request, answered);
    this.requests.push(scripted);
    return () => {
      scripted.isCancelled = true;
    };
  }

  openStream(request: HttpRequest, listener: StreamListener): Cancel {
    const scripted = new ScriptedStream(request, listener);
    this.streams.push(scripted);
    return () => {
      scripted.isClosed = true;
    };
  }
}

function refusalWith(
  status: number,
  code: string,
  { path, retryAfter }: { path?: string; retryAfter?: string },
): HttpAnswer {
  const details = path === undefined ? [] : [{ path, problem: 'is wrong' }];
  const error = { code, message: `${code} by the test`, details, requestId: 'q_1' };
  const text = JSON.stringify({ error });
  return { status, text, ...(retryAfter === undefined ? {} : { retryAfter }) };
}
