import { DEFAULT_NAMESPACE } from '@sluice/core';
import type { Engine } from '@sluice/engine';
import { ROUTES } from '@sluice/protocol';
import type { FastifyInstance } from 'fastify';
import type { Caller } from '../access/caller.ts';
import { diskSpace } from '../base/disk-space.ts';
import { timeText } from '../base/time-text.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { SteadyClock } from '../clock/steady-clock.ts';
import { routeOptions } from '../http/route-options.ts';
import type { Projection } from '../projection/projection.ts';
import { type QuotaParts, quotaView } from './quota-view.ts';

export interface ClusterParts extends QuotaParts {
  readonly engine: Engine;
  readonly projection: Projection;
  readonly blobs: BlobStore;
  readonly log: { readonly isFull: boolean };
  readonly clock: () => number;
  readonly time: Pick<SteadyClock, 'status'>;
  readonly dataFolder: string;
  readonly logEngine: 'file' | 'postgres';
  readonly version: string;
  readonly commit: string | undefined;
  readonly partition: number;
  /** Of a server in a cluster. */
  readonly storeView?: StoreViewer;
}

type StoreViewer = () => Promise<object>;

/**
 * `GET /v1/cluster`: the health of the server, for operators. It answers even when much is broken.
 */
export function clusterRoute(app: FastifyInstance, parts: ClusterParts): void {
  app.route({
    ...routeOptions(ROUTES.getCluster),
    handler: async ({ caller }) => ({
      ...(isOverServer(caller) ? await serverView(parts) : namespaceView(parts)),
      quotas: await quotaView(parts, caller.namespace),
    }),
  });
}

/** Figures of the whole server reveal data of all namespaces, so only its admins may see them. */
function isOverServer({ roles, namespace }: Caller): boolean {
  return roles.includes('admin') && namespace === DEFAULT_NAMESPACE;
}

/** What every client needs: whether the server runs, and how old lists are. */
function namespaceView({ engine, projection, clock, version, partition }: ClusterParts) {
  const { state, lagMs } = projection.status(engine.position, clock());
  return {
    version,
    startedAt: timeText(Math.round(performance.timeOrigin)),
    partitions: [{ partition, state: engine.isStopped ? 'stopped' : 'ok' }],
    projection: { state, lagMs },
  };
}

async function serverView(parts: ClusterParts) {
  const { engine, projection, blobs, log, clock, time, dataFolder, version, commit } = parts;
  const disk = await diskSpace(dataFolder);
  const { position } = engine;
  return {
    version,
    ...(commit === undefined ? {} : { commit }),
    startedAt: timeText(Math.round(performance.timeOrigin)),
    partitions: [
      {
        partition: parts.partition,
        state: engine.isStopped ? 'stopped' : 'ok',
        log: { engine: parts.logEngine, position, isFull: log.isFull },
      },
    ],
    ...(await storeOf(parts)),
    clock: time.status,
    projection: projection.status(position, clock()),
    blobs: blobs.totals,
    disk,
    memory: { residentBytes: process.memoryUsage.rss() },
  };
}

/** Nothing while the database does not answer. */
async function storeOf({ storeView }: ClusterParts): Promise<{ readonly store?: object }> {
  const store = await storeView?.().catch(() => undefined);
  return store === undefined ? {} : { store };
}
