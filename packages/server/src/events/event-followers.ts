import { PING_AFTER_MS } from '@sluice/protocol';
import type { FastifyReply } from 'fastify';
import { FollowerStream } from '../http/follower-stream.ts';
import { type ChangeQuery, eventId } from '../projection/change-ring.ts';
import type { Projection } from '../projection/projection.ts';

interface Parts {
  readonly projection: Projection;
  /** A reader that reads nothing for this long is cut. */
  readonly stalledMs: number;
}

/** Clients that follow the changes of tasks. */
export class EventFollowers {
  private readonly parts: Parts;
  private readonly followers = new Map<FollowerStream, AbortController>();

  constructor(parts: Parts) {
    this.parts = parts;
  }

  get count(): number {
    return this.followers.size;
  }

  /**
   * Sends the changes after `query.after` as server-sent events, until the client or the server
   * stops.
   */
  async follow(query: ChangeQuery, reply: FastifyReply): Promise<void> {
    const stream = new FollowerStream(reply.hijack().raw, this.parts.stalledMs);
    const stopped = new AbortController();
    stream.signal.addEventListener('abort', () => stopped.abort());
    this.followers.set(stream, stopped);
    try {
      await this.sendAll(query, stream, stopped.signal);
      await stream.send('drain', {});
    } catch {
      // The answer has begun, so its end without `drain` tells the client that something went
      // wrong.
    } finally {
      this.followers.delete(stream);
      stream.end();
    }
  }

  /** The server is stopping and tells its followers. */
  stop(): void {
    for (const [stream, stopped] of this.followers) {
      if (stream.isBlocked) stream.cut();
      stopped.abort();
    }
  }

  private async sendAll(
    query: ChangeQuery,
    stream: FollowerStream,
    signal: AbortSignal,
  ): Promise<void> {
    const { projection } = this.parts;
    const { start } = query;
    let { after, isLost = false } = query;
    let pingAt = performance.now() + PING_AFTER_MS;
    // A reader that is cut off before the first change knows its place, too.
    if (!isLost) await stream.write(placeFrame(start, after));
    while (!signal.aborted) {
      const events = await projection.changes({ ...query, after, isLost });
      ({ after } = events);
      isLost = false;
      if (events.text !== '') await stream.write(events.text);
      if (events.isMore) continue;
      const isLater = await projection.passes(after + 1, pingAt - performance.now(), signal);
      if (!isLater && !signal.aborted) {
        await stream.write(`${placeFrame(start, after)}event: ping\ndata: {}\n\n`);
      }
      if (!isLater || events.text !== '') pingAt = performance.now() + PING_AFTER_MS;
    }
  }
}

/**
 * A frame without data is no event, but a reader that reconnects sends its id. Before the first
 * record of the log there is no place.
 */
function placeFrame(start: string, after: number): string {
  return after < 0 ? '' : `id: ${eventId(start, after)}\n\n`;
}
