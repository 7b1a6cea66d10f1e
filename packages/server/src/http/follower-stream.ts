import type { ServerResponse } from 'node:http';
import { PacedAnswer } from './paced-answer.ts';

/** Server-sent events to somebody who follows. */
export class FollowerStream extends PacedAnswer {
  /** Cuts a reader that takes nothing for `stalledMs`. */
  constructor(raw: ServerResponse, stalledMs: number) {
    super(raw, { contentType: 'text/event-stream', stalledMs });
  }

  /** Resolves when the next one may be sent, or when nobody reads any more. */
  send(event: string, data: unknown): Promise<void> {
    return this.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }
}
