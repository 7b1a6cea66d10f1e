import type { StoreName } from '../contender.ts';
import { startPostgres } from './postgres.ts';
import { startRedis } from './redis.ts';
import { startSluice } from './sluice.ts';
import type { Store } from './store.ts';

const STARTS: Readonly<Record<StoreName, () => Promise<Store>>> = {
  redis: () => startRedis('everysec'),
  'redis-always': () => startRedis('always'),
  postgres: startPostgres,
  sluice: startSluice,
};

/** Starts a fresh, empty store. */
export function startStore(name: StoreName): Promise<Store> {
  return STARTS[name]();
}
