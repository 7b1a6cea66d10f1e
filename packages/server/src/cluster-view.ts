import { statfs } from 'node:fs/promises';
import type { Engine } from '@sluice/engine';
import { ROUTES } from '@sluice/protocol';
import type { FastifyInstance } from 'fastify';
import type { BlobStore } from './blobs/blob-store.ts';
import { routeOptions } from './http/route-options.ts';
import type { Projection } from './projection/projection.ts';
import { timeText } from './time-text.ts';

export interface ClusterParts {
  readonly engine: Engine;
  readonly projection: Projection;
  readonly blobs: BlobStore;
  readonly log: { readonly isFull: boolean };
  readonly clock: () => number;
  readonly dataFolder: string;
  readonly version: string;
}

/** `GET /v1/cluster`: how the server is, for operators. It answers also when much is wrong. */
export function clusterRoute(app: FastifyInstance, parts: ClusterParts): void {
  app.route({ ...routeOptions(ROUTES.getCluster), handler: () => clusterView(parts) });
}

async function clusterView(parts: ClusterParts) {
  const { engine, projection, blobs, log, clock, dataFolder, version } = parts;
  const { bsize, bavail, blocks } = await statfs(dataFolder);
  const { position } = engine;
  return {
    version,
    startedAt: timeText(Math.round(performance.timeOrigin)),
    partitions: [
      {
        partition: 0,
        state: engine.isStopped ? 'stopped' : 'ok',
        log: { engine: 'file', position, isFull: log.isFull },
      },
    ],
    projection: projection.status(position, clock()),
    blobs: blobs.totals,
    disk: { freeBytes: bsize * bavail, totalBytes: bsize * blocks },
    memory: { residentBytes: process.memoryUsage.rss() },
  };
}
