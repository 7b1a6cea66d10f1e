import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import type { FollowedPartition, Term } from '@sluice/engine';
import { PostgresStore } from '../assembly/postgres-store.ts';
import { projectionData } from '../assembly/server-parts.ts';
import { startStandby } from '../assembly/start-standby.ts';
import { PartitionHost } from '../host/partition-host.ts';
import { handlerOnly } from '../membership/cluster-listener.ts';
import type { Standby, StandbyOptions } from '../membership/standby.ts';
import { Projection } from '../projection/projection.ts';
import type { ClusterParts } from './cluster-parts.ts';

/** What the host of a partition is made for. */
export interface HostOrder {
  readonly epoch: number;
  /** The partition, if it has followed the log. */
  readonly followed: FollowedPartition | undefined;
  readonly parked: Worker | undefined;
  readonly term: Term;
  /** The database's time. */
  readonly now: () => number;
  readonly onLost: (cause: Error) => void;
  /** What `GET /v1/cluster` shows of the servers of the store. */
  readonly storeView: () => Promise<object>;
}

type HostFace = 'level' | 'quiesce' | 'abandon' | 'close';

/** A host that answers requests. */
interface ClusterHost extends Pick<PartitionHost, HostFace> {
  readonly engine: Pick<PartitionHost['engine'], 'position' | 'stepDown'>;
}

export interface StartedHost {
  readonly host: ClusterHost;
  readonly handler: RequestListener;
}

/** Makes what a server of a cluster has for a while. A simulation makes what it can observe. */
export interface ClusterMakers {
  /** Resolves when the host can answer. */
  startHost(parts: ClusterParts, order: HostOrder): Promise<StartedHost>;
  follow(
    parts: ClusterParts,
    given: Pick<StandbyOptions, 'committed' | 'onWentBack' | 'onTrouble'>,
  ): Standby;
  /** The projection's thread for the next takeover. */
  park(parts: ClusterParts): Worker | undefined;
}

export const CLUSTER_MAKERS: ClusterMakers = {
  startHost: async (parts, order) => {
    const { server: dummy, makeServer, handler } = handlerOnly();
    const host = await openHost(parts, order, makeServer);
    dummy.unref();
    try {
      await host.app.ready();
      await host.begin();
    } catch (cause) {
      await host.abandon();
      throw cause;
    }
    return { host, handler: handler() };
  },
  follow: startStandby,
  park: ({ options, address }) =>
    Projection.park(projectionData(options, { folder: '', store: address })),
};

async function openHost(
  { options, address, log, scratch, hopTrust }: ClusterParts,
  { epoch, followed, parked, term, now, onLost, storeView }: HostOrder,
  makeServer: ReturnType<typeof handlerOnly>['makeServer'],
): Promise<PartitionHost> {
  const store = await PostgresStore.open({
    address,
    scratchFolder: join(scratch, String(epoch)),
    epoch,
    segmentBytes: options.segmentBytes,
  });
  return PartitionHost.start({
    server: { ...options, onFatal: onLost },
    ...{ log, store, makeServer, term, hopTrust, storeView },
    ...(followed && { followed }),
    clock: { wall: now, monotonic: () => performance.now() },
    ...(parked && { parked }),
  });
}
