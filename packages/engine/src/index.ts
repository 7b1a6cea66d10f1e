export type { AdmissionBounds, AdmissionClass } from './admission.ts';
export type { StartTimer } from './alarm.ts';
export type { Releasable } from './batch.ts';
export type { CommittedBatch, CommittedFeed, FeedOptions, Watermark } from './committed-feed.ts';
export { envWithCompileCache } from './compile-cache.ts';
export {
  Engine,
  EngineStoppedError,
  FencedError,
  type Request,
} from './engine.ts';
export type { EngineNotice } from './engine-notice.ts';
export type { EngineOptions } from './engine-options.ts';
export { executeOnce } from './execute-once.ts';
export type { Fold, FoldOutcome, StartFold } from './fold.ts';
export { foldBetweenTurns } from './fold-between-turns.ts';
export { LogChangedError, LogFollower } from './log-follower.ts';
export type { OutputPort } from './output-port.ts';
export { type FollowedPartition, RecoveryError, replayPartition } from './recovery.ts';
export type { Shows } from './shown-parts.ts';
export type { SnapshotOptions } from './snapshot-keeper.ts';
export { type FoldProcessOptions, foldInOwnProcess } from './start-fold-process.ts';
export type { Term } from './term.ts';
