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
  /** Everything durable is stored in this folder. */
  readonly dataFolder: string;
  /** Address of a PostgreSQL that holds all data. The folder is then for scratch files. */
  readonly store?: string;
  /** Without it, it is found out. */
  readonly durability?: Configuration['durability'];
  /** URL by which other servers of the store reach this one. */
  readonly advertise?: string;
  readonly version: string;
  /** Commit of the sources, if it is known. It is only shown. */
  readonly commit?: string;
  /** Number of the partition in the data folder. */
  readonly partition?: number;
  /** Called once when the server can no longer keep its promises; the process should end. */
  readonly onFatal: (cause: Error) => void;
  readonly limits?: Partial<Configuration['limits']>;
  /** Share of the limits that one namespace may use. */
  readonly quotas?: Partial<Configuration['quotas']>;
  /** How long finished tasks are kept for search, and how many bytes of them. */
  readonly retention?: Configuration['retention'];
  /** Which receivers may be called, and how many at once. */
  readonly callbacks?: Configuration['callbacks'];
  /** Bytes of the whole process. Above this, submits are refused. */
  readonly maxMemory?: number;
  /** Limits of requests and connections that differ from the defaults. */
  readonly http?: Partial<Configuration['http']>;
  /** Host names that a request may be addressed to, besides loopback and `host`. */
  readonly allowedHosts?: readonly string[];
  /** Everything is encrypted when there is a certificate. */
  readonly tls?: CertificateFiles;
  readonly matching?: Partial<MatchingOptions>;
  /** Time for open requests to finish in `close`; then their connections are cut. */
  readonly drainMs?: number;
  /** Follows a wall clock that jumps ahead by more than an hour. */
  readonly acceptClockJumps?: boolean;
  /** Without it only problems are logged. */
  readonly log?: ServerLog;
  /** Limits on work that waits for the disk; tests set lower ones. */
  readonly admission?: AdmissionBounds;
  /** Wraps the log between engine and disk; tests use it to stop writes. */
  readonly wrapLog?: (log: BoundedLog) => BoundedLog;
  /** Makes the partition; tests make one that they can watch. */
  readonly makePartition?: Observation['makePartition'];
  /** Bytes of log after which the next snapshot is made and the log trimmed. */
  readonly snapshotEveryBytes?: number;
  /** Size of the log's segments, which are trimmed as a whole. */
  readonly segmentBytes?: number;
  /**
   * The projection writes open tasks after at most this time. Until then the log is kept for it.
   */
  readonly openRecordMsMax?: number;
}

export const DEFAULTS = loadConfig({ flags: {}, env: {} }).config;

interface Configured extends Omit<ServerOptions, 'version' | 'commit' | 'onFatal'> {
  readonly drainMs: number;
}

/** The options of a server with this configuration. */
export function serverOptions(config: Configuration): Configured {
  const { strategy, ...waiting } = config.placement;
  return {
    host: config.host,
    port: config.port,
    dataFolder: resolve(config.dataFolder),
    ...(config.store === '' ? {} : { store: config.store }),
    durability: config.durability,
    ...(config.advertise === '' ? {} : { advertise: config.advertise }),
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
