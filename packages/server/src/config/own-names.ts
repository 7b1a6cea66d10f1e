import { hostname, networkInterfaces } from 'node:os';

/** Names by which other machines may reach this one: its addresses and its host name. */
export function ownNames(): string[] {
  const addresses = Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    // Link-local addresses work only together with the name of an interface.
    .filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
    .map(({ address }) => address);
  return [...addresses, hostname()];
}

/** Whether a server on this host listens at every address of the machine. */
export function isEveryAddress(host: string): boolean {
  return host === '0.0.0.0' || /^\[?(?:::|(?:0{1,4}:){7}0{1,4})\]?$/.test(host);
}
