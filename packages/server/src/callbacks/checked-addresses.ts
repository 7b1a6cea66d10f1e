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
 * The addresses of a URL's host. All of them may be called. Rejects with a `SendError` when there
 * is no address, or when one of them may not be called. The URL parser has already normalized every
 * spelling of an address.
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
  // One refused address is enough, because any of them might be used.
  if (addresses.every((address) => guard.allowsAddress(address))) return addresses;
  throw new SendError('address_not_allowed');
}
