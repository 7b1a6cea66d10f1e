import type { Command } from '@sluice/core';
import type { EngineNotice } from '@sluice/engine';
import type { AppendOutcome, LogBatch, LogHold, LogTrim, StoredBatch } from '@sluice/log';
import type { WatchedPartition } from '../../server/watched-partition.ts';

/**
 * Watches a world while it runs. It fails the simulation with the number of the rule that is
 * broken. Every hook is optional.
 */
export interface Checker {
  readonly name: string;
  /** The server recovered; `partition` is what it restored from its disk. */
  booted?(partition: WatchedPartition, hold: LogHold): void;
  executed?(command: Command, reply: unknown, partition: WatchedPartition): void;
  /** How the log answered the append of a batch. */
  answered?(outcome: AppendOutcome): void;
  /** The log says that the batch is durable. */
  committed?(batch: LogBatch): void;
  /** The log returns a batch. Before `booted`, the reader is a server that is starting. */
  read?(batch: StoredBatch): void;
  trimming?(trim: LogTrim): void;
  /** Something leaves the server that may depend on the first `records` records. */
  letOut?(records: number, what: string): void;
  /** A client that asked at `askedAt` is shown a task or a run; `json` is the body. */
  shown?(id: string, json: string, askedAt: number): void;
  /** Bytes are sent to a worker on the stream of its session. */
  written?(stream: object, bytes: Uint8Array): void;
  noticed?(notice: EngineNotice): void;
  /** The server process is paused for this time. */
  stalled?(forMs: number): void;
  /** The server continues before the announced pause is over. */
  woken?(): void;
  /** The clock of the server's machine was set. */
  clockSet?(): void;
  /** The server process ended. */
  stopped?(): void;
  /** The world ended. */
  ended?(): void;
}
