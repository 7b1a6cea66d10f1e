import { resolve } from 'node:path';
import type { MatchingOptions } from '@sluice/core';
import type { AdmissionBounds } from '@sluice/engine';
import type { BoundedLog } from '@sluice/log';
import { loadConfig } from '../config/load-config.ts';
import type { Configuration } from '../config/settings.ts';
import type { CertificateFiles } from '../http/certificate.ts';
import type { Observation } from '../observation/observation.ts';
import { ServerLog } from '../observation/server-log.ts';

export interface ServerOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Everything that must survive lives below this folder. */
  readonly dataFolder: string;
  readonly version: string;
  /** Of the partition in the data folder. */
  readonly partition?: number;
  /** Called once when the server can no longer keep its promises; the process should end. */
  readonly onFatal: (cause: Error) => void;
  readonly limits?: Partial<Configuration['limits']>;
  /** What one namespace may use of them. */
  readonly quotas?: Partial<Configuration['quotas']>;
  /** How long finished tasks are kept for search, and how much of them. */
  readonly retention?: Configuration['retention'];
  /** Who may be called back, and how many at once. */
  readonly callbacks?: Configuration['callbacks'];
  /** Bytes of the whole process; above it submits are refused. */
  readonly maxMemory?: number;
  /** Bounds of requests and connections, where they are not the usual ones. */
  readonly http?: Partial<Configuration['http']>;
  /** Names beside loopback and `host` that a request may have been sent to. */
  readonly allowedHosts?: readonly string[];
  /** Everything is encrypted when there is a certificate. */
  readonly tls?: CertificateFiles;
  readonly matching?: Partial<MatchingOptions>;
  /** Time that requests under way have to finish in `close`; then their connections are cut. */
  readonly drainMs?: number;
  /** Follows a wall clock that jumps ahead by more than an hour. */
  readonly acceptClockJumps?: boolean;
  /** Only what went wrong is said unless somebody wants to hear more. */
  readonly log?: ServerLog;
  /** What may wait for the disk; tests have less. */
  readonly admission?: AdmissionBounds;
  /** Stands between engine and log; tests stop the world with it. */
  readonly wrapLog?: (log: BoundedLog) => BoundedLog;
  /** Makes the partition; tests make one that they can watch. */
  readonly makePartition?: Observation['makePartition'];
  /** Bytes of log after which the next snapshot is made and the log trimmed. */
  readonly snapshotEveryBytes?: number;
  /** Size of the log's segments, which are trimmed as a whole. */
  readonly segmentBytes?: number;
  /** The projection writes open tasks after so long, and the log is kept for it until then. */
  readonly openRecordMsMax?: number;
}

export const DEFAULTS = loadConfig({ flags: {}, env: {} }).config;

interface Configured extends Omit<ServerOptions, 'version' | 'onFatal'> {
  readonly drainMs: number;
}

/** What a configuration means for a server. */
export function serverOptions(config: Configuration): Configured {
  const { strategy, ...waiting } = config.placement;
  return {
    host: config.host,
    port: config.port,
    dataFolder: resolve(config.dataFolder),
    allowedHosts: config.allowedHosts,
    ...(config.tls.certFile === '' ? {} : { tls: config.tls }),
    drainMs: config.drainMs,
    acceptClockJumps: config.acceptClockJumps,
    snapshotEveryBytes: config.snapshotEveryBytes,
    maxMemory: config.maxMemory,
    retention: config.retention,
    callbacks: config.callbacks,
    limits: config.limits,
    quotas: config.quotas,
    http: config.http,
    matching: { placement: strategy, ...waiting },
    log: ServerLog.onStderr(config.logLevel),
  };
}
