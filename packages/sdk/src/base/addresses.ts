/** Address of the server: one, several separated by commas, or a list. */
export type ServerUrl = string | readonly string[];

/** The addresses in the order in which they are tried, without a trailing slash. */
export function addressesOf(url: ServerUrl): string[] {
  const given = typeof url === 'string' ? url.split(',') : url;
  const texts = given.map((text) => text.trim()).filter((text) => text !== '');
  if (texts.length === 0) throw new TypeError('no address of a Sluice server is given');
  return texts.map(addressOf);
}

function addressOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw new TypeError(`'${withoutSecrets(text)}' is no address of a server: http://host:port`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new TypeError(`an address has no user and password: '${url.host}'; use apiKey`);
  }
  // An address that was copied with the path of the API is that of its server.
  return `${url.origin}${url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '')}`;
}

/** Messages end up in logs, so they must not show credentials. */
function withoutSecrets(text: string): string {
  return text.replace(/[^/@]*@/, '…@');
}

/** The header with the key. A key that no header can carry is refused without being shown. */
export function authorization(apiKey: string | undefined): Record<string, string> {
  if (apiKey === undefined || apiKey === '') return {};
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new TypeError('the API key has characters that no key has');
  }
  return { authorization: `Bearer ${apiKey}` };
}
