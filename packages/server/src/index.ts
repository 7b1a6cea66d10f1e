export { createKeyIn } from './access/create-key.ts';
export { Admission } from './admission.ts';
export { BackupError } from './backup/read-manifest.ts';
export { restoreBackup } from './backup/restore-backup.ts';
export { type CallbackMessage, Courier, type SendOutcome } from './callbacks/courier.ts';
export { EMBEDDED_PARTITION } from './config/embedded-partition.ts';
export { flagsHelp, flagTypes } from './config/flags.ts';
export {
  ConfigError,
  type ConfigSources,
  type LoadedConfig,
  loadConfig,
} from './config/load-config.ts';
export { printConfig } from './config/print-config.ts';
export { serverOptions } from './config/server-options.ts';
export { dumpLog } from './dump-log.ts';
export { Gateway } from './gateway.ts';
export { partitionLimits } from './partition-limits.ts';
export { type MarkStore, Projector, type RowStore } from './projection/projector.ts';
export { rebuildProjection } from './projection/rebuild-projection.ts';
export type { TaskRecord } from './projection/task-record.ts';
export { QueueRates } from './queues/queue-rates.ts';
export { Server, type ServerOptions } from './server.ts';
export { ServerLog } from './server-log.ts';
export { ServerOutputs } from './server-outputs.ts';
export { TICK_MS } from './standstill.ts';
export { SteadyClock } from './steady-clock.ts';
export { TaskWaiters } from './tasks/task-waiters.ts';
export type { StreamSink } from './workers/worker-stream.ts';
export { WorkerStreams } from './workers/worker-streams.ts';
