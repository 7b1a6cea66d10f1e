import type { PartitionOptions } from '@sluice/core';
import type { BoundedLog, LogExtent } from '@sluice/log';
import type { AdmissionBounds } from './admission.ts';
import type { StartTimer } from './alarm.ts';
import type { FeedOptions } from './committed-feed.ts';
import type { Notify } from './engine-notice.ts';
import type { OutputPort } from './output-port.ts';
import type { FollowedPartition, MakePartition } from './recovery.ts';
import type { SnapshotOptions } from './snapshot-keeper.ts';
import type { Term } from './term.ts';

export interface EngineOptions {
  readonly log: BoundedLog;
  /**
   * What the log holds, when no other process can change it. The engine then recovers before it
   * acquires the log, so a start that fails to recover writes nothing.
   */
  readonly extent?: LogExtent;
  /** A partition that has followed the log. The engine goes on with it instead of recovering. */
  readonly followed?: FollowedPartition;
  /** Set when other servers may take the partition over: until when its word is true. */
  readonly term?: Term;
  /** Without snapshots every start replays the whole log, and the log grows for ever. */
  readonly snapshots?: SnapshotOptions;
  /**
   * Set when there is a consumer of committed batches. The log, and finished tasks in memory, are
   * then kept until the consumer has them. A function is called once the partition is recovered.
   */
  readonly feed?: FeedOptions | (() => Promise<FeedOptions>);
  readonly partition: PartitionOptions;
  /** Creates the partition; a simulation creates one that it can observe. */
  readonly makePartition?: MakePartition;
  readonly outputs: OutputPort;
  /** Limits of what may wait for the disk; tests use lower ones. */
  readonly admission?: AdmissionBounds;
  /** Wall clock in milliseconds. */
  readonly clock: () => number;
  /** Called at the start with the time of the newest record: time does not run backwards (L8). */
  readonly onRecovered?: (latest: number) => void;
  /** A random whole number below 2^53. */
  readonly nonce: () => number;
  /**
   * Runs its argument at the end of the current turn of the event loop. The append waits that long,
   * so that all requests that arrived together share it.
   */
  readonly atEndOfTurn: (run: () => void) => void;
  readonly startTimer: StartTimer;
  /** Minimum time that sessions have to come back after a restart (L7). */
  readonly graceMsMin: number;
  /** Called with events that no caller is told of. */
  readonly notify: Notify;
  /**
   * Called once, when the engine lost its log or was fenced. The owner restarts it or ends (L5).
   */
  readonly onStopped: (cause: Error) => void;
}
