import { join } from 'node:path';
import { CronCalendar } from '@sluice/calendar';
import type { PartitionLimits } from '@sluice/core';
import { Engine, type FeedOptions, foldInOwnProcess } from '@sluice/engine';
import { type BoundedLog, FileLog, FileSnapshots, type LogExtent } from '@sluice/log';
import { removeStaged } from '../backup/backup-files.ts';
import { refuseUnfinishedRestore } from '../backup/unfinished-restore.ts';
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
import { TaskLogs } from '../logs/task-logs.ts';
import type { Observation } from '../observation/observation.ts';
import { Projection } from '../projection/projection.ts';
import { DEFAULTS, type ServerOptions } from './server-options.ts';

const GRACE_MS_MIN = 15_000;

const DAY_MS = 24 * 60 * 60 * 1000;

function openTaskLogs({ dataFolder, retention = DEFAULTS.retention }: ServerOptions) {
  const ageMs = retention.days * DAY_MS;
  return TaskLogs.open({ folder: join(dataFolder, 'task-logs'), ageMs });
}

/** The files beside the log. They are opened after recovery: until then the folder is unchanged. */
export async function openFiles(
  options: ServerOptions,
  observation: Observation,
  clock: () => number,
): Promise<{ readonly logs: TaskLogs; readonly blobs: BlobStore }> {
  await removeStaged(options.dataFolder);
  const logs = await openTaskLogs(options);
  return { logs, blobs: await openBlobs(options, observation, clock) };
}

function openBlobs(
  options: ServerOptions,
  { blobDamaged }: Observation,
  clock: () => number,
): Promise<BlobStore> {
  return BlobStore.open({
    folder: join(options.dataFolder, 'blobs'),
    clock,
    onDamaged: blobDamaged,
    namespaceBytesMax: quotasIn(options).blobBytesMax,
  });
}

export function quotasIn({ quotas }: ServerOptions): Configuration['quotas'] {
  return { ...DEFAULTS.quotas, ...quotas };
}

function startProjection(options: ServerOptions, observation: Observation): Promise<Projection> {
  const { days, bytesMax } = options.retention ?? DEFAULTS.retention;
  return Projection.start({
    folder: join(options.dataFolder, 'projection'),
    retention: { ageMs: days * DAY_MS, bytesMax },
    openMsMax: options.openRecordMsMax,
    notify: observation.projected,
  });
}

export interface EngineParts {
  readonly log: BoundedLog;
  readonly extent: LogExtent;
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
      projection = await startProjection(options, parts.observation);
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
  const { log, extent, outputs, clock, observation, beforeTimers } = parts;
  const logFolder = logFolderOf(options);
  const snapshotFolder = join(options.dataFolder, 'snapshots');
  const limits = limitsOf(options);
  const number = options.partition ?? EMBEDDED_PARTITION;
  const partition = { partition: number, limits, matching: options.matching ?? {} };
  return Engine.start({
    log: observation.measured(log),
    extent,
    partition: { ...partition, utf8: UTF8, calendar: new CronCalendar() },
    makePartition: observation.makePartition,
    snapshots: {
      store: await FileSnapshots.open(snapshotFolder),
      startFold: foldInOwnProcess({ ...partition, logFolder, snapshotFolder }),
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

/** The configured limits and quotas, with defaults for the rest. */
function limitsOf(options: ServerOptions): PartitionLimits {
  return partitionLimits({
    limits: { ...DEFAULTS.limits, ...options.limits },
    quotas: quotasIn(options),
  });
}

function logFolderOf({ dataFolder }: ServerOptions): string {
  return join(dataFolder, 'log');
}

export async function openLog(options: ServerOptions): Promise<FileLog> {
  refuseUnfinishedRestore(options.dataFolder);
  const { segmentBytes } = options;
  const size = segmentBytes === undefined ? {} : { segmentBytes };
  return FileLog.open({ folder: logFolderOf(options), ...size });
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
