import type { Contender } from './contender.ts';

/** Loaded on demand, because the packages of a peer cost memory and time. */
export const CONTENDERS: Readonly<Record<string, () => Promise<Contender>>> = {
  sluice: async () => (await import('./adapters/sluice.ts')).sluice,
  'sluice-single': async () => (await import('./adapters/sluice.ts')).sluiceSingle,
  bullmq: async () => (await import('./adapters/bullmq.ts')).bullmq,
  'bullmq-always': async () => (await import('./adapters/bullmq.ts')).bullmqAlways,
  'pg-boss': async () => (await import('./adapters/pg-boss.ts')).pgBoss,
  'graphile-worker': async () => (await import('./adapters/graphile-worker.ts')).graphileWorker,
};
