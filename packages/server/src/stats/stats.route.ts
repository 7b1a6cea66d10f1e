import { setTimeout as pause } from 'node:timers/promises';
import { ROUTES, StatsQuery } from '@sluice/protocol';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { KeyStreams } from '../access/key-streams.ts';
import { Checker } from '../base/validation.ts';
import { FollowerStream } from '../http/follower-stream.ts';
import { parseQuery } from '../http/query.ts';
import { routeOptions } from '../http/route-options.ts';
import { type Admission, overloaded } from '../limits/admission.ts';
import type { Stats, StatsWindow } from './stats.ts';

interface Parts {
  readonly stats: Stats;
  readonly clock: () => number;
  readonly admission: Admission;
  readonly keyStreams: KeyStreams;
  /** A reader that reads nothing for this long is cut. */
  readonly stalledMs: number;
}

const FOLLOWERS_MAX = 100;
const EVERY_MS = 1000;

export function statsRoute(app: FastifyInstance, parts: Parts): void {
  const query = new Checker(StatsQuery);
  const followers = new StatsFollowers(parts);
  app.addHook('preClose', async () => followers.stop());
  app.route({
    ...routeOptions(ROUTES.getStats),
    handler: async (request, reply) => {
      const { window = '10m', follow } = parseQuery(query, request.query);
      const isFollowed = follow !== undefined && follow !== 'false';
      if (!isFollowed) return parts.stats.view(window, parts.clock());
      if (request.method === 'HEAD') return reply.type('text/event-stream').send();
      parts.admission.read();
      if (followers.count >= FOLLOWERS_MAX) throw overloaded('too many requests follow the stats');
      parts.keyStreams.add(request.caller, reply.raw);
      return followers.follow(window, reply);
    },
  });
}

/** Clients that draw charts: all points first, then what is new every second. */
class StatsFollowers {
  private readonly parts: Parts;
  private readonly stopped = new AbortController();
  count = 0;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  async follow(window: StatsWindow, reply: FastifyReply): Promise<void> {
    const { stats, clock, stalledMs } = this.parts;
    const stream = new FollowerStream(reply.hijack().raw, stalledMs);
    const signal = AbortSignal.any([stream.signal, this.stopped.signal]);
    this.count += 1;
    try {
      const first = stats.view(window, clock());
      await stream.send('stats', first);
      let newest = first.items.at(-1)?.at ?? '';
      for (;;) {
        await pause(EVERY_MS, undefined, { signal });
        // The newest interval grows until the next one begins, so it is sent again.
        const items = stats.view(window, clock()).items.filter(({ at }) => at >= newest);
        newest = items.at(-1)?.at ?? newest;
        await stream.send('points', { items });
      }
    } catch {
      // The client is gone, or the server stops.
    } finally {
      this.count -= 1;
      stream.end();
    }
  }

  stop(): void {
    this.stopped.abort();
  }
}
