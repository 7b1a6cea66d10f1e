import { createServer } from 'node:net';

/** What a contender keeps its tasks in: a server process, or several, with a folder of its own. */
export interface Store {
  /** For clients and workers; stays the same when it is started again. */
  readonly address: string;
  /** The process that all others of it come from. */
  readonly pid: number;
  /** Ends it without a warning, and starts it again on the same data. */
  killAndStart(): Promise<void>;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}

/** One that nobody uses now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { readonly port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
