/** Where a server is, in the parts that a socket wants. */
export interface Address {
  readonly isSecure: boolean;
  readonly host: string;
  readonly port: string;
  /** Prefix of every path; usually empty. */
  readonly prefix: string;
}

export function addressOf(text: string): Address {
  const { protocol, hostname, port, pathname } = new URL(text);
  const isSecure = protocol === 'https:';
  return {
    isSecure,
    // An IPv6 address has brackets in a URL and none for a socket.
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? (isSecure ? '443' : '80') : port,
    prefix: pathname === '/' ? '' : pathname,
  };
}
