import type { Command, Replies } from '@sluice/core';
import { reservationsOf } from '@sluice/core/testing/follow/carried-command';
import { KnownSessions } from '@sluice/core/testing/follow/known-sessions';
import { matchingProblems } from '@sluice/core/testing/state-problems';
import type { Simulation } from '../kernel/simulation.ts';
import type { WatchedPartition } from '../server/watched-partition.ts';
import type { Checker } from './story/checker.ts';

/** A look compares every task with every session. It is rarer when there are more of both. */
const COMMANDS_PER_LOOK_MIN = 20;
const PAIRS_PER_COMMAND = 40;

/** A command that ended this many tasks leaves part of the matching to the next command. */
const ENDED_MAX = 1000;

/**
 * I14: no ready task waits while a worker could take it, by what that worker offered, holds and has
 * read; and I26: no worker that is given something holds more than it offers. Rooms that are kept
 * for a task, and what a worker refused a moment ago, are left out.
 *
 * Offers and grants are counted again here, from commands and pushes alone.
 */
export class IdleRoom implements Checker {
  readonly name = 'idle room';
  private readonly simulation: Simulation;
  private readonly known = new KnownSessions();
  /** Time never runs backwards, whatever a command says. */
  private now = 0;
  private commands = 0;

  constructor(simulation: Simulation) {
    this.simulation = simulation;
  }

  booted({ state }: WatchedPartition): void {
    this.known.restart(state);
    this.now = state.now;
  }

  executed(command: Command, reply: unknown, partition: WatchedPartition): void {
    const { state, outputs } = partition;
    this.now = Math.max(this.now, command.now, state.now);
    const { now } = this;
    this.known.follow(command, reply as Replies[Command['type']], { state, now });
    this.known.followOutputs(state, outputs);
    this.commands += 1;
    if (!partition.grantsLeases || outputs.endedSlots.length >= ENDED_MAX) return;
    const pairs = state.tasks.count * this.known.sessions.size;
    if (this.commands < COMMANDS_PER_LOOK_MIN + pairs / PAIRS_PER_COMMAND) return;
    this.commands = 0;
    this.look(partition);
  }

  private look(partition: WatchedPartition): void {
    const { sessions } = this.known;
    const pushed = new Set(partition.outputs.pushSessions);
    const kept = reservationsOf(partition, sessions.keys());
    const moment = { pushed, kept, now: this.now };
    const [problem] = matchingProblems(partition.state, sessions.values(), moment);
    const rule = problem?.startsWith('matching.within-offer') === true ? 'I26' : 'I14';
    this.simulation.check(problem === undefined, rule, problem ?? '');
  }
}
