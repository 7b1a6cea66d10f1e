export { type FaultTiming, FaultyLog } from './faulty-log.ts';
export { FileLog, type FileLogOptions } from './file-log.ts';
export {
  type CorruptPosition,
  FolderInUseError,
  LogCorruptError,
  LogFailedError,
  LogFormatError,
} from './log-errors.ts';
export { MemoryLog, MemoryLogStore } from './memory-log.ts';
export type {
  AppendOutcome,
  LogBatch,
  LogHold,
  PartitionLog,
  StoredBatch,
} from './partition-log.ts';
