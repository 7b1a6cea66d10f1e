import * as protocol from '@sluice/protocol';
import type { TSchema } from 'typebox';
import { Checker } from './validation.ts';

/**
 * Compiles the schemas of requests one after the other, so that a server that takes over need not:
 * all of them take more than 100 ms.
 */
export async function warmSchemas(): Promise<void> {
  for (const value of [...Object.values(protocol), ...Object.values(protocol.REPORT_SCHEMAS)]) {
    if (!isSchema(value)) continue;
    new Checker(value);
    await new Promise(setImmediate);
  }
}

function isSchema(value: unknown): value is TSchema {
  return typeof value === 'object' && value !== null && '~kind' in value;
}
