import type { IncomingMessage } from 'node:http';
import { clientOf } from '../http/client.ts';

/**
 * The key of a browser, in a cookie that scripts cannot read.
 *
 * access.cookie-from-own-pages: The cookie counts only for requests that a page of this server
 *   made. Browsers send cookies to every port of a host, and SameSite treats all ports as one
 *   site, so a page of another port could otherwise use the key.
 * - Its name contains the port, so that servers on one machine do not overwrite each other's.
 */
const COOKIE_DAYS = 30;

type Request = Pick<IncomingMessage, 'headers' | 'method'> & { readonly socket?: unknown };

/** What the request would have as `Authorization`, or undefined without a cookie that counts. */
export function cookieAuthorization(request: Request): string | undefined {
  const { cookie } = request.headers;
  if (cookie === undefined || !isFromOwnPage(request)) return undefined;
  const name = cookieName(request);
  for (const part of cookie.split(';')) {
    const [key, value = ''] = part.trim().split('=');
    if (key === name && value !== '') return `Bearer ${value}`;
  }
  return undefined;
}

/** The value of `Set-Cookie` that stores a key, or removes it. */
export function keyCookie(request: Request, key: string | undefined): string {
  const life = key === undefined ? 0 : COOKIE_DAYS * 86_400;
  const secure = isSecure(request) ? '; Secure' : '';
  const scope = `Path=/v1; Max-Age=${life}; HttpOnly; SameSite=Strict${secure}`;
  return `${cookieName(request)}=${key ?? ''}; ${scope}`;
}

function hostOf({ headers }: Request): string {
  return String(headers[':authority'] ?? headers.host ?? '');
}

function cookieName(request: Request): string {
  const [port = 'default'] = /(?<=:)\d+$/.exec(hostOf(request)) ?? [];
  return `sluice-key-${port}`;
}

function isFromOwnPage(request: Request): boolean {
  const { headers, method = 'GET' } = request;
  const isReading = method === 'GET' || method === 'HEAD';
  const site = headers['sec-fetch-site'];
  // Browsers send it to loopback addresses and over TLS. `none` is an address that was typed in.
  if (site !== undefined) return site === 'same-origin' || (site === 'none' && isReading);
  // The guard of origins has compared it with the host.
  return isReading || headers.origin !== undefined;
}

/** A proxy may end TLS: then the origin that the browser sends shows it. */
function isSecure(request: Request): boolean {
  const { isEncrypted } = clientOf(request);
  return isEncrypted || request.headers.origin?.startsWith('https://') === true;
}
