import { timingSafeEqual } from 'node:crypto';
import { type AccessKey, hasExpired, type ReadonlyState } from '@sluice/core';
import { type Role, SluiceError } from '@sluice/protocol';
import { timeText } from '../base/time-text.ts';
import { type Caller, LOCAL_CALLER, plainAddress } from './caller.ts';
import { FailureLimit } from './failure-limit.ts';
import { hashOfKey, idOfText } from './key-text.ts';

/**
 * Finds the caller of a request.
 *
 * access.open-without-keys: A server without keys is open to every client that reaches it. From the
 *   first key on, every request needs a key. The core ensures that there is always a key that can
 *   create others.
 * access.fresh-lookup: A key counts until it expires or is revoked, and not for one request longer:
 *   it is looked up each time. A lookup hashes 90 bytes, which is too cheap to be worth a cache.
 * - Hashes are compared in constant time.
 * - An address or a key that fails too often is refused without a lookup. A key that was used from
 *   the same address before is still looked up: other clients must not lock out its holder.
 * access.live-creator: The key of the caller who creates a key must count at the moment of
 *   creation, however long the request took to arrive. Otherwise a revoked key could live on in a
 *   new one.
 */
export class Authenticator {
  private readonly options: AuthenticatorOptions;
  private readonly byAddress = new FailureLimit({ burst: 20, perSecond: 1 });
  private readonly byKey = new FailureLimit({ burst: 50, perSecond: 1 });
  /** Uses of keys since the start, by key id. */
  private readonly uses = new Map<string, KeyUse>();

  constructor(options: AuthenticatorOptions) {
    this.options = options;
  }

  /** Returns the caller, or throws `unauthenticated` or `too_many_failures`. */
  authenticate(authorization: string | undefined, ip: string | undefined): Caller {
    const { accessKeys } = this.options.state;
    if (accessKeys.size === 0) return LOCAL_CALLER;
    const address = plainAddress(ip);
    if (authorization === undefined) throw unauthenticated(NEEDS_KEY);
    const text = BEARER.exec(authorization)?.[1] ?? '';
    const id = idOfText(text);
    const use = id === undefined ? undefined : this.uses.get(id);
    if (use?.addresses.has(address) !== true) this.checkFailures(address, id);

    const key = id === undefined ? undefined : accessKeys.get(id);
    if (key === undefined || !isTextOf(key, text)) {
      this.failed(address, id);
      throw unauthenticated('this is not a key of this server; it may have been revoked');
    }
    const now = this.options.clock();
    if (hasExpired(key, now)) {
      throw unauthenticated(`the key '${key.id}' expired at ${timeText(key.expiresAt)}`);
    }
    return this.used(key, address, now);
  }

  /** Whether a stream or wait that began with this key may continue. */
  isLive(id: string): boolean {
    const { accessKeys } = this.options.state;
    if (id === LOCAL_CALLER.actor) return accessKeys.size === 0;
    const key = accessKeys.get(id);
    return key !== undefined && !hasExpired(key, this.options.clock());
  }

  lastUsedAt(id: string): number | undefined {
    return this.uses.get(id)?.at;
  }

  private used(key: AccessKey, address: string, now: number): Caller {
    let use = this.uses.get(key.id);
    if (use === undefined) {
      this.forgetRevoked();
      use = { at: now, addresses: new Set(), caller: callerOf(key) };
      this.uses.set(key.id, use);
    }
    use.at = now;
    if (!use.addresses.has(address)) {
      if (use.addresses.size >= ADDRESSES_MAX) use.addresses.clear();
      use.addresses.add(address);
    }
    return use.caller;
  }

  private forgetRevoked(): void {
    const { accessKeys } = this.options.state;
    if (this.uses.size <= accessKeys.size) return;
    for (const id of this.uses.keys()) {
      if (accessKeys.get(id) === undefined) this.uses.delete(id);
    }
  }

  private checkFailures(address: string, id: string | undefined): void {
    const now = performance.now();
    const keyMs = id === undefined ? 0 : this.byKey.waitMs(id, now);
    const retryAfterMs = Math.max(keyMs, this.byAddress.waitMs(networkOf(address), now));
    if (retryAfterMs === 0) return;
    const message = 'too many requests with a wrong key; try again later';
    throw new SluiceError('too_many_failures', message, { retryAfterMs });
  }

  private failed(address: string, id: string | undefined): void {
    const now = performance.now();
    const isBlocked = this.byAddress.failed(networkOf(address), now);
    if (isBlocked) this.options.onBlocked({ address });
    if (id !== undefined && this.byKey.failed(id, now)) this.options.onBlocked({ key: id });
  }
}

export interface AuthenticatorOptions {
  readonly state: Pick<ReadonlyState, 'accessKeys'>;
  readonly clock: () => number;
  /** An address or a key failed too often and is refused for a while. */
  readonly onBlocked: (who: { readonly address?: string; readonly key?: string }) => void;
}

interface KeyUse {
  at: number;
  /** Addresses that the key was used from. */
  readonly addresses: Set<string>;
  readonly caller: Caller;
}

const BEARER = /^Bearer +(\S+)$/i;

const ADDRESSES_MAX = 1000;

const NEEDS_KEY =
  "this server needs a key: 'Authorization: Bearer slk_…'; clients of Sluice take it from " +
  'SLUICE_API_KEY';

function isTextOf({ hash }: AccessKey, text: string): boolean {
  return timingSafeEqual(Buffer.from(hash, 'latin1'), Buffer.from(hashOfKey(text), 'latin1'));
}

function callerOf(key: AccessKey): Caller {
  return { actor: key.id, namespace: key.namespace, roles: rolesOf(key) };
}

export function rolesOf({ role }: AccessKey): readonly Role[] {
  return role.split(',') as Role[];
}

function unauthenticated(why: string): SluiceError {
  return new SluiceError('unauthenticated', why);
}

/** A client with one IPv6 address usually controls its whole /64 network. */
function networkOf(address: string): string {
  return address.includes(':') ? address.split(':').slice(0, 4).join(':') : address;
}
