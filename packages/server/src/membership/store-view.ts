import type { HoldStore } from '@sluice/postgres';
import type { Durability } from './store-durability.ts';

interface ViewedStore {
  readonly holds: Pick<HoldStore, 'look' | 'servers'>;
  readonly durability: Durability;
}

/** What `GET /v1/cluster` shows of the servers of a store. `position` is that of the owner. */
export async function storeView(
  { holds, durability }: ViewedStore,
  position: number,
): Promise<object> {
  const [{ runId: owner, level }, servers] = [await holds.look(), await holds.servers()];
  return {
    durability,
    level,
    servers: servers.map(({ address, runId, version, level: known, ...server }) => ({
      url: address,
      role: runId === owner ? 'owner' : 'standby',
      version,
      level: known,
      behindRecords: runId === owner ? 0 : Math.max(0, position - server.position),
      seenMsAgo: Math.max(0, server.seenMsAgo),
    })),
  };
}
