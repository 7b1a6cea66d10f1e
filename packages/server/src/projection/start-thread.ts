import { Worker } from 'node:worker_threads';
import { envWithCompileCache } from '@sluice/engine';
import type { ThreadData } from './projection-messages.ts';

/** Starts the projection's thread. */
export function startThread(workerData: ThreadData): Worker {
  const env = envWithCompileCache();
  return new Worker(new URL('./projection-thread.ts', import.meta.url), { workerData, env });
}
