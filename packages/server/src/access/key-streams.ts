import { SluiceError } from '@sluice/protocol';
import type { Authenticator } from './authenticator.ts';
import type { Caller } from './caller.ts';

/** How often open streams are checked. An expired key may stay in use on a stream for this long. */
const LOOK_EVERY_MS = 1000;

/** An answer that stays open. */
interface Stream {
  once(event: 'close', listener: () => void): unknown;
  destroy(): unknown;
}

/**
 * Long-running answers, by the key of their request: streams, and waits for tasks. When the key is
 * revoked or expires, they are cut. Every other request looks up its key itself
 * (access.fresh-lookup).
 */
export class KeyStreams {
  private readonly authenticator: Pick<Authenticator, 'isLive'>;
  private readonly streams = new Map<string, Set<Stream>>();
  private readonly timer: NodeJS.Timeout;

  constructor(authenticator: Pick<Authenticator, 'isLive'>) {
    this.authenticator = authenticator;
    this.timer = setInterval(() => this.cutDead(), LOOK_EVERY_MS);
    this.timer.unref();
  }

  add({ actor }: Caller, stream: Stream): void {
    const others = this.streams.get(actor) ?? new Set();
    this.streams.set(actor, others.add(stream));
    stream.once('close', () => {
      others.delete(stream);
      if (others.size === 0 && this.streams.get(actor) === others) this.streams.delete(actor);
    });
  }

  /** Throws when the caller's key has ended since the request arrived. */
  check({ actor }: Caller): void {
    if (this.authenticator.isLive(actor)) return;
    throw new SluiceError('unauthenticated', 'the key expired or was revoked during the request');
  }

  cutDead(): void {
    for (const [actor, streams] of [...this.streams]) {
      if (this.authenticator.isLive(actor)) continue;
      for (const stream of [...streams]) stream.destroy();
    }
  }

  stop(): void {
    clearInterval(this.timer);
  }
}
