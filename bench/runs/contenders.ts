import type { RunContender } from './contender.ts';

/** Loaded on demand, because the packages of a peer cost memory and time. */
export const CONTENDERS: Readonly<Record<string, () => Promise<RunContender>>> = {
  sluice: async () => (await import('./contenders/sluice.ts')).sluice,
  dbos: async () => (await import('./contenders/dbos.ts')).dbos,
  restate: async () => (await import('./contenders/restate.ts')).restate,
};
