export type {
  Disk,
  DiskFile,
  DiskUse,
  FolderHeld,
  FolderLock,
  OpenMode,
  SyncFile,
  WriteDone,
  WriteRange,
} from './disk.ts';
export { type FaultTiming, FaultyLog } from './faulty-log.ts';
export { FileLog, type FileLogOptions, type HeldFiles } from './file-log.ts';
export { FileSnapshots } from './file-snapshots.ts';
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
export { type CommittedRange, peekLogFolder, readLogFolder } from './log-reader.ts';
export { MemoryLog, MemoryLogStore } from './memory-log.ts';
export { MemorySnapshots } from './memory-snapshots.ts';
export type {
  AppendOutcome,
  BoundedLog,
  LogBatch,
  LogHold,
  LogTrim,
  OnBatch,
  PartitionLog,
  StoredBatch,
  TrimOutcome,
} from './partition-log.ts';
export { STOP_READING } from './partition-log.ts';
export {
  type SaveContent,
  SnapshotDamagedError,
  type SnapshotHeader,
  type SnapshotStore,
  type StoredSnapshot,
} from './snapshot-store.ts';
