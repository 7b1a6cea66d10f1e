import type { Client } from 'pg';

/** Where a store is: a database and a schema in it. */
export interface StoreAddress {
  /** For the driver. It may contain a password and is never shown. */
  readonly url: string;
  readonly schema: string;
  /** For messages: without the password. */
  readonly shown: string;
  /** Makes the driver's client; a simulation makes one without a socket. */
  readonly makeClient?: (name: string) => Client;
}

const SCHEMA = /^[a-z_][a-z0-9_]{0,47}$/;

const FORM = "write it as 'postgres://USER:PASSWORD@HOST:PORT/DATABASE?schema=NAME'";

/** The schema unless the address names one. */
const DEFAULT_SCHEMA = 'sluice';

/** The address of a store cannot be used. The message never repeats the address. */
export class StoreAddressError extends Error {
  override readonly name = 'StoreAddressError';
}

/** Reads `postgres://…`; `schema` is ours, all other parameters belong to the driver. */
export function parseStoreAddress(text: string): StoreAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^postgres(?:ql)?:$/.test(url.protocol)) {
    throw new StoreAddressError(`the store is not a PostgreSQL address; ${FORM}`);
  }
  const schema = url.searchParams.get('schema') ?? DEFAULT_SCHEMA;
  if (!SCHEMA.test(schema)) {
    throw new StoreAddressError(
      `'schema' of the store must have 1 to 48 lower-case letters, digits and '_', not '${schema}'`,
    );
  }
  url.searchParams.delete('schema');
  const { host, pathname } = url;
  return { url: url.href, schema, shown: `postgres://${host}${pathname} (schema ${schema})` };
}
