import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type OutgoingHttpHeaders,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

/** Where the owner is. */
export interface OwnerPlace {
  readonly url: string;
  /** Random name of the owner's process. */
  readonly runId: string;
}

/**
 * Connections to an owner that are used in turn. Requests that take long leave the pool, so that
 * they do not hold up others: see `Exchange`.
 */
const SOCKETS_MAX = 64;

/**
 * A former owner has this long to end its answers. One that is frozen or cut off would keep its
 * clients waiting, although there is another owner.
 */
const FAREWELL_MS = 2000;

/** The connections to one process. */
class Peer {
  readonly place: OwnerPlace;
  private readonly url: URL;
  private readonly agent: HttpAgent;
  private readonly open = new Set<ClientRequest>();

  constructor(place: OwnerPlace) {
    this.place = place;
    this.url = new URL(place.url);
    const options = { keepAlive: true, maxSockets: SOCKETS_MAX, maxFreeSockets: SOCKETS_MAX };
    this.agent = this.isEncrypted ? new HttpsAgent(options) : new HttpAgent(options);
  }

  request(method: string, path: string, headers: OutgoingHttpHeaders): ClientRequest {
    const { url, agent } = this;
    const send = this.isEncrypted ? httpsRequest : httpRequest;
    const request = send({
      agent,
      method,
      path,
      headers: { ...headers, host: url.host },
      // A URL has brackets around an IPv6 address.
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port || (this.isEncrypted ? 443 : 80),
    });
    this.open.add(request);
    request.once('close', () => this.open.delete(request));
    return request;
  }

  /** Requests under way go on; each connection is closed after its last one. */
  retire(): void {
    this.agent.maxFreeSockets = 0;
    for (const socket of Object.values(this.agent.freeSockets).flat()) socket?.destroy();
  }

  /** Breaks off the requests under way. */
  abandon(): void {
    for (const request of this.open) request.destroy();
  }

  private get isEncrypted(): boolean {
    return this.url.protocol === 'https:';
  }
}

/** Keeps connections to the current owner only. */
export class Peers {
  private current: Peer | undefined;

  at(place: OwnerPlace): Peer {
    const { current } = this;
    if (current?.place.runId === place.runId && current.place.url === place.url) return current;
    this.current = new Peer(place);
    if (current !== undefined) this.leave(current);
    return this.current;
  }

  close(): void {
    this.current?.retire();
    this.current = undefined;
  }

  private leave(former: Peer): void {
    former.retire();
    const farewell = setTimeout(() => {
      // It may be the owner again.
      if (this.current?.place.runId !== former.place.runId) former.abandon();
    }, FAREWELL_MS);
    farewell.unref();
  }
}

export type { Peer };
