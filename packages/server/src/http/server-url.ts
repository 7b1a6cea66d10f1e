import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** Where a server that listens can be reached. */
export function urlOf(app: FastifyInstance, host: string, isEncrypted: boolean): string {
  const { port } = app.server.address() as AddressInfo;
  return `${isEncrypted ? 'https' : 'http'}://${urlHost(host)}:${port}`;
}

/** As it stands in an address: one of IPv6 has brackets there. */
function urlHost(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}
