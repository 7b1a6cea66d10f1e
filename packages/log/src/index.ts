export { type FaultTiming, FaultyLog } from './faulty-log.ts';
export { FileLog, type FileLogOptions } from './file-log.ts';
export {
  type CorruptPosition,
  FolderInUseError,
  LogCorruptError,
  LogFailedError,
  LogFormatError,
  LogFullError,
  LogTrimmedError,
  NetworkFolderError,
} from './log-errors.ts';
export { MemoryLog, MemoryLogStore } from './memory-log.ts';
export type {
  AppendOutcome,
  BoundedLog,
  LogBatch,
  LogHold,
  LogTrim,
  PartitionLog,
  StoredBatch,
  TrimOutcome,
} from './partition-log.ts';
