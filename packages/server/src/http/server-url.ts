import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** The URL of a listening server. */
export function urlOf(app: FastifyInstance, host: string, isEncrypted: boolean): string {
  const { port } = app.server.address() as AddressInfo;
  return `${isEncrypted ? 'https' : 'http'}://${urlHost(host)}:${port}`;
}

/** The host in a URL: an IPv6 address has brackets there. */
function urlHost(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}
