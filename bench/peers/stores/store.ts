import { createServer } from 'node:net';

/** Where a contender keeps its tasks: one or more server processes with a separate folder. */
export interface Store {
  /** Address for clients and workers. It stays the same after a restart. */
  readonly address: string;
  /** The root process of the store. */
  readonly pid: number;
  /** Kills it without warning, and restarts it on the same data. */
  killAndStart(): Promise<void>;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}

/** A port that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { readonly port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
