import type { Command, Event } from '@sluice/core';
import type { LogHold } from '@sluice/log';
import type { WatchedPartition } from '../../server/watched-partition.ts';
import type { TaskStory } from './task-story.ts';

/** An executed command. Its record, if it has one, is durable. */
export interface ToldCommand {
  readonly command: Command;
  readonly reply: unknown;
  /** The partition's time of execution. */
  readonly at: number;
  /** The world's time of execution. */
  readonly executedAt: number;
  /** Whether leases could be granted; false while they had to wait for the disk. */
  readonly grantsLeases: boolean;
  /** Sessions that received something and keep room for a task. No event shows this. */
  readonly keeping: ReadonlySet<string>;
}

/**
 * A rule about what the log may tell. Commands come in the order of execution, each with its
 * events, and only once they are durable. Every hook is optional.
 */
export interface StoryRule {
  /** Called before the events of the command. */
  begins?(told: ToldCommand): void;
  /** Called before the story applies the event. `task` is the state of the event's task so far. */
  event?(event: Event, task: TaskStory | undefined, told: ToldCommand): void;
  /** Called after the events of the command. */
  ends?(told: ToldCommand): void;
  /** The server recovered exactly the state that the story tells. */
  booted?(partition: WatchedPartition, hold: LogHold): void;
  /** The server process ended; everything that was not durable is lost. */
  stopped?(): void;
  /** The world ended. */
  ended?(): void;
}
