/** One PostgreSQL for all test files of a run; each test has a schema in it. */
import type { TestProject } from 'vitest/node';
import { PostgresServer } from './postgres-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    readonly postgresAddress: string;
  }
}

/** Called by vitest before the first file; it calls the result after the last one. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await PostgresServer.start({ max_connections: '200' });
  project.provide('postgresAddress', server.address);
  return () => server.stop();
}
