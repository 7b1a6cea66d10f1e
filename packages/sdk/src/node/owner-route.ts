import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { ROLE_PATH, type ServerRole } from '@sluice/protocol/owner';
import { type Address, addressOf } from './address.ts';

/** An owner that takes longer to answer is not used. */
const PROBE_MS = 1000;

/** An owner that could not be reached is not tried again for this time. */
const RETRY_MS = 60_000;

/**
 * The way to the owner of a cluster: requests that go there directly save the hop through another
 * server.
 *
 * - The key is sent to an owner only after it answered at its address, and never in clear text
 *   where the configured address is encrypted. Clients that cannot reach it go on as before.
 * - When a request to the owner fails, the next one goes to a configured address, whose server
 *   knows the new owner.
 */
export class OwnerRoute {
  private owner: Address | undefined;
  /** The address that was looked at last, and when it may be looked at again. */
  private probed = { url: '', againAt: 0 };

  /** Where a request for this address goes. */
  from(configured: Address): Address {
    const { owner } = this;
    return owner === undefined || (configured.isSecure && !owner.isSecure) ? configured : owner;
  }

  /** An answer of `from` named the owner. */
  heard(url: string, from: Address): void {
    const now = performance.now();
    const isKnown = url === this.probed.url && now < this.probed.againAt;
    if (isKnown || !/^https?:/.test(url) || !URL.canParse(url)) return;
    const address = addressOf(url);
    if (from.isSecure && !address.isSecure) return;
    this.probed = { url, againAt: now + RETRY_MS };
    probe(address, (isOwner) => {
      if (isOwner && this.probed.url === url) this.owner = address;
    });
  }

  /** A request to this address failed. */
  failed(address: Address): void {
    if (this.owner !== address) return;
    this.owner = undefined;
    this.probed = { url: '', againAt: 0 };
  }
}

/** Asks without the key: the server at this address is not verified yet. */
function probe({ isSecure, host, port, prefix }: Address, done: (isOwner: boolean) => void): void {
  const send = isSecure ? httpsRequest : httpRequest;
  const target = { host, port, path: `${prefix}${ROLE_PATH}`, agent: false, timeout: PROBE_MS };
  const asking = send(target, (answer) => {
    let text = '';
    answer.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    answer.on('error', () => undefined);
    answer.on('end', () => done(saysOwner(text)));
  });
  asking.on('timeout', () => asking.destroy());
  // Unreachable from here: requests go on as before.
  asking.on('error', () => done(false));
  asking.once('socket', (socket) => socket.unref());
  asking.end();
}

function saysOwner(text: string): boolean {
  try {
    return (JSON.parse(text) as Partial<ServerRole>).role === 'owner';
  } catch {
    // Something else answers at that address.
    return false;
  }
}
