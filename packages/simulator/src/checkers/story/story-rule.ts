import type { Command, Event } from '@sluice/core';
import type { LogHold } from '@sluice/log';
import type { WatchedPartition } from '../../server/watched-partition.ts';
import type { TaskStory } from './task-story.ts';

/** A command that was carried out; its record, if it has one, is durable. */
export interface ToldCommand {
  readonly command: Command;
  readonly reply: unknown;
  /** The partition's time when it was carried out. */
  readonly at: number;
  /** The world's time of that. */
  readonly executedAt: number;
  /** Whether leases were granted, or had to wait for the disk. */
  readonly grantsLeases: boolean;
  /** Sessions that got something and keep room for a task: no event tells of that. */
  readonly keeping: ReadonlySet<string>;
}

/**
 * A rule about what the log may tell. Commands come in the order in which they were carried out,
 * each with its events, and only once they are durable. Every hook may be left out.
 */
export interface StoryRule {
  /** Before the events of the command. */
  begins?(told: ToldCommand): void;
  /** Before the story takes the event in; `task` is what it tells so far of the event's task. */
  event?(event: Event, task: TaskStory | undefined, told: ToldCommand): void;
  /** After the events of the command. */
  ends?(told: ToldCommand): void;
  /** The server recovered, with exactly what the story tells. */
  booted?(partition: WatchedPartition, hold: LogHold): void;
  /** The server is gone, and with it what was not durable. */
  stopped?(): void;
  /** The world is at its end. */
  ended?(): void;
}
