import { setTimeout as pause } from 'node:timers/promises';
import type { Engine } from '@sluice/engine';
import { PING_AFTER_MS } from '@sluice/protocol';
import type { FastifyReply } from 'fastify';
import { FollowerStream } from '../http/follower-stream.ts';
import type { Projection } from '../projection/projection.ts';

interface Parts {
  readonly engine: Pick<Engine, 'position'>;
  readonly projection: Pick<Projection, 'passes'>;
  /** A reader that reads nothing for this long is cut. */
  readonly stalledMs: number;
}

/** A page reads its lists again at most this often. */
const EVERY_MS = 1000;

/**
 * Clients that want to know when to read again. The events say only that the log has grown and
 * that the projection has seen it, so a busy server costs its readers no more than a quiet one.
 */
export class ChangeFollowers {
  private readonly parts: Parts;
  private readonly followers = new Map<FollowerStream, AbortController>();

  constructor(parts: Parts) {
    this.parts = parts;
  }

  get count(): number {
    return this.followers.size;
  }

  async follow(reply: FastifyReply): Promise<void> {
    const stream = new FollowerStream(reply.hijack().raw, this.parts.stalledMs);
    const stopped = new AbortController();
    stream.signal.addEventListener('abort', () => stopped.abort());
    this.followers.set(stream, stopped);
    try {
      await this.sendAll(stream, stopped.signal);
      await stream.send('drain', {});
    } catch {
      // The pause was aborted because the client is gone, or the server stops.
    } finally {
      this.followers.delete(stream);
      stream.end();
    }
  }

  /** The server is stopping. */
  stop(): void {
    for (const [stream, stopped] of this.followers) {
      if (stream.isBlocked) stream.cut();
      stopped.abort();
    }
  }

  private async sendAll(stream: FollowerStream, signal: AbortSignal): Promise<void> {
    const { engine, projection } = this.parts;
    // Whatever happened before the stream began, the page reads afterwards.
    await stream.send('changed', {});
    let next = engine.position;
    while (!signal.aborted) {
      const isNew = await projection.passes(next, PING_AFTER_MS, signal);
      if (signal.aborted) return;
      next = engine.position;
      await stream.send(isNew ? 'changed' : 'ping', {});
      if (isNew) await pause(EVERY_MS, undefined, { signal });
    }
  }
}
