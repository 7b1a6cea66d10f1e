import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { CronCalendar } from '@sluice/calendar';
import type { PartitionLimits } from '@sluice/core';
import {
  Engine,
  type FeedOptions,
  type FollowedPartition,
  foldInOwnProcess,
  type Term,
} from '@sluice/engine';
import type { BoundedLog, LogExtent } from '@sluice/log';
import { UTF8 } from '../base/utf8.ts';
import { BlobStore } from '../blobs/blob-store.ts';
import { makeCourier, type RunningCourier } from '../callbacks/make-courier.ts';
import type { SteadyClock } from '../clock/steady-clock.ts';
import { EMBEDDED_PARTITION } from '../config/embedded-partition.ts';
import type { Configuration } from '../config/settings.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { ServerOutputs } from '../gateway/server-outputs.ts';
import { type HttpWorker, makeHttpWorker } from '../http-steps/http-worker.ts';
import type { Admission } from '../limits/admission.ts';
import { partitionLimits } from '../limits/partition-limits.ts';
import type { TaskLines } from '../logs/task-logs.ts';
import type { Observation } from '../observation/observation.ts';
import { Projection } from '../projection/projection.ts';
import type { ThreadData } from '../projection/projection-messages.ts';
import { DEFAULTS, type ServerOptions } from './server-options.ts';
import type { ServerStore, StoreSnapshots } from './server-store.ts';

const GRACE_MS_MIN = 15_000;

const DAY_MS = 24 * 60 * 60 * 1000;

export function openTaskLogs(
  { retention = DEFAULTS.retention }: ServerOptions,
  store: ServerStore,
): Promise<TaskLines> {
  return store.openTaskLogs(retention.days * DAY_MS);
}

interface BlobParts {
  readonly store: ServerStore;
  readonly observation: Observation;
  readonly clock: () => number;
}

export function openBlobs(
  options: ServerOptions,
  { store, observation, clock }: BlobParts,
): Promise<BlobStore> {
  const shelf = store.blobShelf;
  return BlobStore.open({
    folder: join(store.folder, 'blobs'),
    ...(shelf && { shelf }),
    clock,
    onDamaged: observation.blobDamaged,
    namespaceBytesMax: quotasIn(options).blobBytesMax,
  });
}

export function quotasIn({ quotas }: ServerOptions): Configuration['quotas'] {
  return { ...DEFAULTS.quotas, ...quotas };
}

function startProjection(
  options: ServerOptions,
  { store, observation, parked }: EngineParts,
): Promise<Projection> {
  const data = projectionData(options, store.rows);
  return Projection.start({ ...data, notify: observation.projected }, parked);
}

/** What the projection's thread is started with. */
export function projectionData(options: ServerOptions, rows: ServerStore['rows']): ThreadData {
  const { days, bytesMax } = options.retention ?? DEFAULTS.retention;
  return {
    ...rows,
    retention: { ageMs: days * DAY_MS, bytesMax },
    openMsMax: options.openRecordMsMax,
  };
}

export interface EngineParts {
  readonly log: BoundedLog;
  readonly extent: LogExtent | undefined;
  readonly store: ServerStore;
  readonly snapshots: StoreSnapshots;
  readonly term?: Term;
  readonly followed?: FollowedPartition;
  /** A thread for the projection that was started before. */
  readonly parked?: Worker;
  readonly outputs: ServerOutputs;
  readonly clock: SteadyClock;
  readonly observation: Observation;
  readonly beforeTimers: () => void;
}

export interface StartedEngine {
  readonly engine: Engine;
  readonly projection: Projection;
}

/**
 * Recovers the partition, takes over the log and starts the projection that follows it. The
 * projection may set files aside, so it starts only when log and snapshots could be loaded.
 */
export async function startEngine(
  options: ServerOptions,
  parts: EngineParts,
): Promise<StartedEngine> {
  let projection: Projection | undefined;
  try {
    const engine = await makeEngine(options, parts, async () => {
      projection = await startProjection(options, parts);
      return projection.feedOptions;
    });
    return { engine, projection: projection as unknown as Projection };
  } catch (cause) {
    await (projection as Projection | undefined)?.close();
    throw cause;
  }
}

/** Gives the partition its clock, its timers and its snapshots. */
async function makeEngine(
  options: ServerOptions,
  parts: EngineParts,
  feed: () => Promise<FeedOptions>,
): Promise<Engine> {
  const { log, extent, outputs, clock, observation, beforeTimers, snapshots } = parts;
  const { term, followed } = parts;
  const partition = partitionOptions(options);
  return Engine.start({
    log: observation.measured(log),
    ...(extent && { extent }),
    ...(term && { term }),
    ...(followed && { followed }),
    partition: { ...partition, ...partitionPorts() },
    makePartition: observation.makePartition,
    snapshots: {
      store: snapshots.store,
      startFold: foldInOwnProcess({ ...partition, source: snapshots.source }),
      everyBytes: options.snapshotEveryBytes ?? DEFAULTS.snapshotEveryBytes,
    },
    outputs,
    feed,
    ...(options.admission === undefined ? {} : { admission: options.admission }),
    clock: () => clock.now(),
    onRecovered: (latest) => clock.notBefore(latest),
    nonce: () => Math.floor(Math.random() * 2 ** 53),
    atEndOfTurn: setImmediate,
    startTimer: (delayMs, run) =>
      startTimer(delayMs, () => {
        beforeTimers();
        run();
      }),
    graceMsMin: GRACE_MS_MIN,
    notify: observation.noticed,
    onStopped: options.onFatal,
  });
}

/** What a partition is made with, apart from its ports. */
export function partitionOptions(options: ServerOptions) {
  const number = options.partition ?? EMBEDDED_PARTITION;
  return { partition: number, limits: limitsOf(options), matching: options.matching ?? {} };
}

/** What a partition cannot do by itself. */
export function partitionPorts() {
  return { utf8: UTF8, calendar: new CronCalendar() };
}

/** The configured limits and quotas, with defaults for the rest. */
function limitsOf(options: ServerOptions): PartitionLimits {
  return partitionLimits({
    limits: { ...DEFAULTS.limits, ...options.limits },
    quotas: quotasIn(options),
  });
}

function startTimer(delayMs: number, ring: () => void): () => void {
  const timer = setTimeout(ring, delayMs);
  return () => clearTimeout(timer);
}

interface CourierParts {
  readonly engine: Engine;
  readonly admission: Admission;
  readonly projection: Projection;
  readonly observation: Observation;
  readonly clock: () => number;
}

export function courierOf(
  { version, callbacks = DEFAULTS.callbacks }: ServerOptions,
  parts: CourierParts,
): RunningCourier {
  const { observation, ...rest } = parts;
  const onTried = observation.callbacks.tried;
  return makeCourier(callbacks, { ...rest, version, startTimer, onTried });
}

export function httpWorkerOf(
  { version, callbacks = DEFAULTS.callbacks }: ServerOptions,
  gateway: Gateway,
): HttpWorker {
  return makeHttpWorker(callbacks, { gateway, version });
}
