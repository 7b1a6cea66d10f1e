import { resolve } from 'node:path';
import type { ServerOptions } from '../server.ts';
import { ServerLog } from '../server-log.ts';
import type { Configuration } from './settings.ts';

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
