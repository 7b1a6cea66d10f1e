import type { Command, MatchingOptions, PartitionLimits, Replies, SessionId } from '@sluice/core';
import { type Carried, carriedCommand } from '@sluice/core/testing/follow/carried-command';
import { compareWithModel } from '@sluice/core/testing/follow/compare-model';
import { ModelFollower } from '@sluice/core/testing/follow/follow-model';
import type { WatchedPartition } from '../server/watched-partition.ts';
import type { Checker } from './story/checker.ts';
import { keepCommand } from './story/keep-command.ts';
import type { LogStory } from './story/log-story.ts';
import type { StoryRule, ToldCommand } from './story/story-rule.ts';

export interface ModelKnobs {
  readonly limits: PartitionLimits;
  readonly matching: Pick<MatchingOptions, 'reserveAfterMs' | 'ageAfterMs' | 'agedLeaseEvery'>;
  readonly graceMsMin: number;
}

/** The whole state is compared once per this many commands, and after each restart. */
const COMMANDS_PER_LOOK = 50;

/**
 * I11, I12 and the rules of matching, against the core's reference model: it is told the commands
 * of the story, so never one that a crash took back, and must come to the same answers, pushes and
 * states.
 */
export class ModelLockstep implements Checker, StoryRule {
  readonly name = 'model';
  private readonly story: LogStory;
  private readonly knobs: ModelKnobs;
  private readonly follower: ModelFollower;
  /** Commands that were executed but not told by the story yet, in order. */
  private readonly carried: Carried[] = [];
  /** All sessions that the server knows. */
  private readonly sessions = new Set<SessionId>();
  private partition: WatchedPartition | undefined;
  private commands = 0;

  constructor(story: LogStory, knobs: ModelKnobs) {
    this.story = story;
    this.knobs = knobs;
    this.follower = new ModelFollower(knobs.limits, knobs.matching);
  }

  executed(command: Command, reply: unknown, partition: WatchedPartition): void {
    if (command.type === 'attach_session') {
      this.sessions.add((reply as Replies['attach_session']).session);
    }
    const given = reply as Replies[Command['type']];
    // The story knows the real time.
    const moment = { at: 0, sessions: this.sessions };
    this.carried.push(carriedCommand(partition, keepCommand(command), given, moment));
    for (const id of partition.outputs.closedSessions) this.sessions.delete(id);
  }

  ends({ at }: ToldCommand): void {
    const carried = this.carried.shift();
    if (carried === undefined) throw new Error('a command is told that nobody carried out');
    this.check(() => this.follower.follow({ ...carried, at }));
    this.commands += 1;
    if (this.commands >= COMMANDS_PER_LOOK) this.compare();
  }

  /** Commands that were not told did not survive the restart. */
  booted(partition: WatchedPartition): void {
    this.partition = partition;
    this.carried.length = 0;
    this.sessions.clear();
    for (const { session } of partition.state.holders.holding()) this.sessions.add(session);
    this.follower.restart(partition.expectedAt, this.knobs.graceMsMin);
    this.compare();
  }

  stopped(): void {
    this.partition = undefined;
  }

  ended(): void {
    this.compare();
  }

  /** Compares only when the story has told every executed command. */
  private compare(): void {
    const { partition } = this;
    if (partition === undefined || this.carried.length > 0) return;
    this.commands = 0;
    this.check(() => compareWithModel(partition, this.follower.model));
  }

  private check(look: () => void): void {
    try {
      look();
    } catch (cause) {
      this.story.simulation.check(false, 'I11', `by the model: ${(cause as Error).message}`);
    }
  }
}
