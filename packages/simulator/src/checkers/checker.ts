import type { Command } from '@sluice/core';
import type { EngineNotice } from '@sluice/engine';
import type { AppendOutcome, LogBatch, LogHold, LogTrim, StoredBatch } from '@sluice/log';
import type { WatchedPartition } from '../server/watched-partition.ts';

/**
 * Looks at a world while it runs, and fails the simulation with the number of the rule that does
 * not hold. Every hook may be left out.
 */
export interface Checker {
  readonly name: string;
  /** The server recovered; `partition` is what it made of its disk. */
  booted?(partition: WatchedPartition, hold: LogHold): void;
  executed?(command: Command, reply: unknown, partition: WatchedPartition): void;
  /** What the log made of a batch. */
  answered?(outcome: AppendOutcome): void;
  /** The log says that the batch is durable. */
  committed?(batch: LogBatch): void;
  /** The log hands out a batch; before `booted`, to a server that starts. */
  read?(batch: StoredBatch): void;
  trimming?(trim: LogTrim): void;
  /** Something that can have seen so many records gets out of the server. */
  letOut?(records: number, what: string): void;
  /** A client that asked at `askedAt` is shown a task: the JSON of an answer that gets out. */
  shown?(id: string, json: string, askedAt: number): void;
  /** Bytes go out to a worker on the stream of its session. */
  written?(stream: object, bytes: Uint8Array): void;
  noticed?(notice: EngineNotice): void;
  /** The server stands still for so long. */
  stalled?(forMs: number): void;
  /** It goes on before that time. */
  woken?(): void;
  /** Somebody set the clock of the server's machine. */
  clockSet?(): void;
  /** The server is gone. */
  stopped?(): void;
  /** The world is at its end. */
  ended?(): void;
}
