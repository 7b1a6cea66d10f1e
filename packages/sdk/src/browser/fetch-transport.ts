import type { Answered, Cancel, HttpAnswer, HttpRequest, StreamListener } from '../base/ports.ts';
import { answerHeaders, headersOf } from '../calls/http-headers.ts';
import type { Transport, TransportOptions } from '../calls/platform.ts';

/** Requests over `fetch`, for browsers. An answer counts only when it arrived completely (L10). */
export class FetchTransport implements Transport {
  /** Private, because it contains the key: printing a client must not show it. */
  readonly #options: TransportOptions;

  constructor(options: TransportOptions) {
    this.#options = options;
  }

  send(request: HttpRequest, answered: Answered): Cancel {
    return this.exchange(request, {
      read: (response) => answerOf(response),
      settled: answered,
    });
  }

  openStream(request: HttpRequest, listener: StreamListener): Cancel {
    return this.exchange(request, {
      read: async (response, isWanted) => {
        if (response.status !== 200) return answerOf(response);
        if (isWanted()) listener.opened?.();
        const reader = response.body?.getReader();
        for (;;) {
          const part = await reader?.read();
          if (part?.value === undefined || !isWanted()) return undefined;
          listener.bytes(part.value);
        }
      },
      settled: (refusal) => listener.ended(refusal),
    });
  }

  close(): void {}

  /** After cancelling there is no callback; after a failure it settles with undefined. */
  private exchange(request: HttpRequest, { read, settled }: Exchange): Cancel {
    const { addresses, headers } = this.#options;
    const { address, method, path, body } = request;
    const connection = new AbortController();
    const isWanted = (): boolean => !connection.signal.aborted;
    const settle = (answer?: HttpAnswer): void => {
      if (isWanted()) settled(answer);
    };
    fetch(`${addresses[address]}${path}`, {
      method,
      body: body ?? null,
      headers: { ...headers, ...headersOf(request) },
      signal: connection.signal,
      // The key must not go to any other server.
      redirect: 'error',
    })
      .then((response) => read(response, isWanted))
      .then(settle, () => settle());
    return () => connection.abort();
  }
}

interface Exchange {
  readonly read: (response: Response, isWanted: () => boolean) => Promise<HttpAnswer | undefined>;
  readonly settled: (answer?: HttpAnswer) => void;
}

async function answerOf(response: Response): Promise<HttpAnswer> {
  const text = await response.text();
  const { status, headers } = response;
  return { status, text, ...answerHeaders((name) => headers.get(name) ?? undefined) };
}
