export {
  type CorruptPosition,
  FolderInUseError,
  LogCorruptError,
  LogFailedError,
  LogFormatError,
  LogFullError,
  LogTrimmedError,
  NetworkFolderError,
} from './contract/log-errors.ts';
export type {
  AppendOutcome,
  BoundedLog,
  LogBatch,
  LogExtent,
  LogHold,
  LogTrim,
  OnBatch,
  PartitionLog,
  StoredBatch,
  TrimOutcome,
} from './contract/partition-log.ts';
export {
  checkBatch,
  checkReadFrom,
  checkTrim,
  overlappingAppend,
  STOP_READING,
} from './contract/partition-log.ts';
export {
  type NewSnapshot,
  type SaveContent,
  SnapshotDamagedError,
  type SnapshotHeader,
  type SnapshotStore,
  type StoredSnapshot,
} from './contract/snapshot-store.ts';
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
} from './disk/disk.ts';
export { FileLog, type FileLogOptions, type HeldFiles } from './file/file-log.ts';
export { type CommittedRange, peekLogFolder, readLogFolder } from './file/log-reader.ts';
export { MemoryLog, MemoryLogStore } from './memory/memory-log.ts';
export { FileSnapshots, snapshotName } from './snapshots/file-snapshots.ts';
export { MemorySnapshots } from './snapshots/memory-snapshots.ts';
