import type { Engine } from '@sluice/engine';
import { ROUTES, type Route } from '@sluice/protocol';
import type { FastifyInstance } from 'fastify';
import { type DiskSpace, diskSpace } from '../base/disk-space.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { SteadyClock } from '../clock/steady-clock.ts';
import { routeOptions } from '../http/route-options.ts';
import { EXPOSITION_TYPE, Exposition } from '../metrics/exposition.ts';
import { writeQuotas } from '../metrics/quota-metrics.ts';
import type { ServerMetrics } from '../metrics/server-metrics.ts';
import type { Projection } from '../projection/projection.ts';
import type { Observation } from './observation.ts';

/**
 * How long a scrape waits for the disk. A disk that hangs must not block the page that reports it.
 */
const DISK_WAIT_MS_MAX = 1000;

export interface MetricSources {
  readonly engine: Engine;
  readonly observation: Observation;
  readonly log: { readonly isFull: boolean };
  readonly projection: Projection;
  readonly blobs: BlobStore;
  readonly clock: () => number;
  readonly time: Pick<SteadyClock, 'status'>;
  readonly dataFolder: string;
}

/** Times every route that is registered from here on, except those that answer with a stream. */
export function timeRoutes(app: FastifyInstance, metrics: ServerMetrics): void {
  const streams = new Set(
    Object.values<Route>(ROUTES)
      .filter(({ answers }) => Object.values(answers).includes('text/event-stream'))
      .map((route) => `${route.method} ${routeOptions(route).url}`),
  );
  app.addHook('onRoute', (route) => {
    const { method, url } = route;
    if (typeof method !== 'string' || method === 'HEAD') return;
    if (streams.has(`${method} ${url}`)) return;
    const histogram = metrics.route(method, url);
    const others = route.onResponse ?? [];
    route.onResponse = [
      ...(Array.isArray(others) ? others : [others]),
      (_request, reply, done) => {
        histogram.observe(reply.elapsedTime);
        done();
      },
    ];
  });
}

/** `GET /metrics`, in the Prometheus format. */
export function metricsRoute(app: FastifyInstance, sources: MetricSources): void {
  const { engine, observation, log, projection, blobs, clock, time } = sources;
  const disk = diskReader(sources.dataFolder);
  app.route({
    ...routeOptions(ROUTES.getMetrics),
    handler: async (_request, reply) => {
      const [tasks, space] = await Promise.all([taskText(engine, observation, clock()), disk()]);
      const out = new Exposition();
      observation.server.write(out, {
        connections: await connections(app),
        logIsFull: log.isFull,
        disk: space,
        clock: time.status,
        projection: projection.status(engine.position, clock()),
        blobs: blobs.totals,
      });
      return reply.type(EXPOSITION_TYPE).send(tasks + out.toString());
    },
  });
}

function connections({ server }: FastifyInstance): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
  });
}

/**
 * Metrics of tasks, once they are durable (L2). Empty while the disk hangs or after the engine
 * stopped; the rest of the page shows why.
 */
async function taskText(
  engine: Engine,
  { tasks, types, callbacks, schedules, partition }: Observation,
  now: number,
): Promise<string> {
  const durable = engine.read((state) => {
    const out = new Exposition();
    tasks.write(out, state, partition.countSessions());
    types.write(out, state, now);
    writeQuotas(out, state);
    callbacks.write(out, state, now);
    schedules.write(out, state);
    return out.toString();
  });
  // An engine that stopped has already reported it.
  return (await inTime(durable)) ?? '';
}

/** A call that hangs occupies a thread, so scrapes meanwhile wait for the same one. */
function diskReader(folder: string): () => Promise<DiskSpace | undefined> {
  let reading: Promise<DiskSpace> | undefined;
  return () => {
    reading ??= diskSpace(folder).finally(() => {
      reading = undefined;
    });
    return inTime(reading);
  };
}

/** Undefined when it fails or takes too long. */
async function inTime<T>(answer: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), DISK_WAIT_MS_MAX);
  });
  try {
    return await Promise.race([answer, timeout]);
  } catch {
    // The page leaves out what it cannot read; other parts of it show why.
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
