export { createKeyIn } from './access/create-key.ts';
export { type ServerOptions, serverOptions } from './assembly/server-options.ts';
export { BackupError } from './backup/read-manifest.ts';
export { restoreBackup } from './backup/restore-backup.ts';
export { MemoryReturn } from './base/memory-return.ts';
export { type CallbackMessage, Courier, type SendOutcome } from './callbacks/courier.ts';
export { TICK_MS } from './clock/standstill.ts';
export { SteadyClock } from './clock/steady-clock.ts';
export { EMBEDDED_PARTITION } from './config/embedded-partition.ts';
export { flagsHelp, flagTypes } from './config/flags.ts';
export {
  ConfigError,
  type ConfigSources,
  type LoadedConfig,
  loadConfig,
} from './config/load-config.ts';
export { printConfig } from './config/print-config.ts';
export { inputWords } from './dedupe/dedupe-hashes.ts';
export { Gateway } from './gateway/gateway.ts';
export { ServerOutputs } from './gateway/server-outputs.ts';
export { Admission } from './limits/admission.ts';
export { partitionLimits } from './limits/partition-limits.ts';
export { dumpLog } from './log-dump/dump-log.ts';
export { ServerLog } from './observation/server-log.ts';
export { Projector } from './projection/projector.ts';
export type { MarkStore, RowStore } from './projection/projector-parts.ts';
export { rebuildProjection } from './projection/rebuild-projection.ts';
export type { TaskRecord } from './projection/records/task-record.ts';
export { QueueRates } from './queues/queue-rates.ts';
export { RunArchive } from './runs/run-archive.ts';
export { RunOperations } from './runs/run-operations.ts';
export { changeSchedules } from './schedules/schedule-batch.ts';
export { ScheduleOperations } from './schedules/schedule-operations.ts';
export { Server } from './servers/server.ts';
export { TaskWaiters } from './tasks/task-waiters.ts';
export type { StreamSink } from './workers/worker-stream.ts';
export { WorkerStreams } from './workers/worker-streams.ts';
