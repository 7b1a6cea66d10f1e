import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { envWithCompileCache } from '@sluice/engine';
import type { ThreadData } from './projection-messages.ts';

/**
 * Size of the young generation's halves, in MiB. The thread writes what has ended before it gets
 * old, so more would only be memory; the process has a larger one for requests.
 */
const YOUNG_MIB = 16;

/** Starts the projection's thread. */
export function startThread(workerData: ThreadData): Worker {
  const env = envWithCompileCache();
  const size = /^--max-semi-space-size=\d+$/;
  const own = process.execArgv.find((flag) => size.test(flag));
  // A flag is for the whole process and stronger than `resourceLimits`. A heap reads it when it is
  // made, so that of this thread keeps what it has.
  if (own !== undefined) setFlagsFromString(`--max-semi-space-size=${YOUNG_MIB}`);
  try {
    return new Worker(new URL('./projection-thread.ts', import.meta.url), { workerData, env });
  } finally {
    if (own !== undefined) setFlagsFromString(own);
  }
}
