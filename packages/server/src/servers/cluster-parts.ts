import { randomUUID } from 'node:crypto';
import type { Server as NetServer } from 'node:net';
import { join } from 'node:path';
import {
  type HoldStore,
  Notes,
  PostgresLog,
  readSecret,
  type StoreAddress,
} from '@sluice/postgres';
import { storeAddressOf } from '../assembly/postgres-store.ts';
import type { ServerOptions } from '../assembly/server-options.ts';
import type { Forwarder } from '../forwarding/forwarder.ts';
import type { CertificateWatcher } from '../http/certificate.ts';
import type { HopTrust } from '../http/client.ts';
import { LOSS_NOTE } from '../membership/accept-loss.ts';
import { type Durability, settledDurability } from '../membership/store-durability.ts';
import { openHolds } from '../membership/store-level.ts';
import type { ServerLog } from '../observation/server-log.ts';
import type { ClusterMakers } from './cluster-hosts.ts';

/** What a server of a cluster has from its start to its end. */
export interface ClusterParts extends OpenStore {
  readonly options: ServerOptions;
  readonly log: ServerLog;
  readonly forwarder: Forwarder;
  readonly listener: NetServer;
  readonly watcher: CertificateWatcher | undefined;
  readonly hopTrust: HopTrust;
  /** The newest level that this version knows. */
  readonly newestLevel: number;
  readonly makers: ClusterMakers;
}

/** The store as a server uses it whether it owns the partition or not. */
interface OpenStore {
  readonly address: StoreAddress;
  readonly runId: string;
  /** For files that nobody needs after this process. */
  readonly scratch: string;
  readonly reader: PostgresLog;
  readonly holds: HoldStore;
  readonly notes: Notes;
  readonly durability: Durability;
  /** At the start. */
  readonly generation: string;
}

/**
 * Rejects when the database has no tables, would lose what it acknowledged, or has a level that
 * this version does not know.
 */
export async function openStore(
  options: ServerOptions,
  log: ServerLog,
): Promise<OpenStore & { readonly secret: Buffer }> {
  const address = storeAddressOf(options);
  const runId = randomUUID();
  const scratch = join(options.dataFolder, `server-${runId}`);
  const durability = await settledDurability(address, options.durability ?? 'auto', log);
  const reader = await PostgresLog.open({ address });
  const holds = await openHolds(address, runId, reader);
  const secret = await readSecret(address);
  const notes = new Notes(address);
  const generation = (await notes.read(LOSS_NOTE)) ?? '';
  return { address, runId, scratch, reader, holds, secret, notes, durability, generation };
}
