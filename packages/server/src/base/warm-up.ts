import * as protocol from '@sluice/protocol';
import Fastify, { type FastifyBaseLogger } from 'fastify';
import type { TSchema } from 'typebox';
import { Checker } from './validation.ts';

/**
 * Does what the first application of a process does, so that a server that takes over need not:
 * the framework loads parts of itself, and schemas are compiled. Both take more than 100 ms.
 */
export async function warmUp(logger: FastifyBaseLogger): Promise<void> {
  const app = Fastify({ loggerInstance: logger });
  app.get('/', async () => null);
  await app.ready();
  await app.close();
  for (const value of [...Object.values(protocol), ...Object.values(protocol.REPORT_SCHEMAS)]) {
    if (!isSchema(value)) continue;
    new Checker(value);
    await new Promise(setImmediate);
  }
}

function isSchema(value: unknown): value is TSchema {
  return typeof value === 'object' && value !== null && '~kind' in value;
}
