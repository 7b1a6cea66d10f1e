import { isIP } from 'node:net';
import type { DeliveryFailure } from '@sluice/core';
import type { AddressGuard } from './address-guard.ts';
import type { ResolveName } from './name-resolver.ts';

/** Why nothing was sent. */
export class SendError extends Error {
  override readonly name = 'SendError';
  readonly failure: DeliveryFailure;

  constructor(failure: DeliveryFailure) {
    super(failure);
    this.failure = failure;
  }
}

/**
 * The addresses behind the host of a URL, all of which may be called; rejects with a `SendError`
 * when there is none, or one that may not. The parser of URLs has brought every spelling of an
 * address into one form by now.
 */
export async function checkedAddresses(
  { hostname }: URL,
  guard: AddressGuard,
  resolve: ResolveName,
): Promise<readonly string[]> {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const addresses = isIP(host) === 0 ? await resolve(host) : [host];
  if (addresses.length === 0) throw new SendError('name_not_resolved');
  if (guard.allowsHost(host)) return addresses;
  // One that may not be called is enough: which one is taken would be up to chance.
  if (addresses.every((address) => guard.allowsAddress(address))) return addresses;
  throw new SendError('address_not_allowed');
}
