import type { ServerResponse } from 'node:http';
import { PacedAnswer } from './paced-answer.ts';

/** Server-sent events for a client that follows. */
export class FollowerStream extends PacedAnswer {
  /** Cuts a reader that reads nothing for `stalledMs`. */
  constructor(raw: ServerResponse, stalledMs: number) {
    super(raw, { contentType: 'text/event-stream', stalledMs });
  }

  /** Resolves when the next event may be sent, or when the reader is gone. */
  send(event: string, data: unknown): Promise<void> {
    return this.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }
}
