import type { AddressInfo, Server } from 'node:net';
import { isEveryAddress } from '../config/own-names.ts';

/** The URL of a listening server, with the first of the names by which it can be reached. */
export function urlOf(
  listener: Pick<Server, 'address'>,
  { host, allowedHosts = [] }: { readonly host: string; readonly allowedHosts?: readonly string[] },
  isEncrypted: boolean,
): string {
  const { port } = listener.address() as AddressInfo;
  const name = isEveryAddress(host) ? (allowedHosts[0] ?? 'localhost') : host;
  return `${isEncrypted ? 'https' : 'http'}://${urlHost(name)}:${port}`;
}

/** The host in a URL: an IPv6 address has brackets there. */
function urlHost(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}
