import { MATCHING_DEFAULTS } from '@sluice/core';
import type { Situations } from '../base/situations.ts';
import type { History } from '../clients/history.ts';
import type { KnownRuns } from '../clients/known-runs.ts';
import type { Simulation } from '../kernel/simulation.ts';
import { NO_RESERVATIONS_MS, type WorldPlan } from '../plan/world-plan.ts';
import type { KnownSchedules } from '../schedules/known-schedules.ts';
import { ScheduleStories } from '../schedules/schedule-stories.ts';
import { Answers } from './answers.ts';
import { Durability } from './durability.ts';
import { IdleRoom } from './idle-room.ts';
import { Linearizability } from './linearizability/linearizability.ts';
import { MemoryOfLog } from './memory-of-log.ts';
import { ModelLockstep } from './model-lockstep.ts';
import { SimProjection } from './projection/sim-projection.ts';
import { Punctuality } from './punctuality.ts';
import { Pushes } from './pushes.ts';
import { ReplayEquality } from './replay-equality.ts';
import { Administration } from './rules/administration.ts';
import { Attempts } from './rules/attempts.ts';
import { Audits } from './rules/audits.ts';
import { Callbacks } from './rules/callbacks.ts';
import { Cancels } from './rules/cancels.ts';
import { EventCauses } from './rules/causes.ts';
import { Grace } from './rules/grace.ts';
import type { HandlerRuns } from './rules/handler-runs.ts';
import { Leases } from './rules/leases.ts';
import { Namespaces } from './rules/namespaces.ts';
import { Offers } from './rules/offers.ts';
import { RedriveRates } from './rules/redrives.ts';
import { ReportsTaken } from './rules/reports.ts';
import { Starvation } from './rules/starvation.ts';
import { Submits } from './rules/submits.ts';
import { TaskLives } from './rules/task-lives.ts';
import { Timers } from './rules/timers.ts';
import { RunAnswers } from './runs/run-answers.ts';
import { RunStories } from './runs/run-stories.ts';
import { ServerPace } from './runs/server-pace.ts';
import { SdkCalls } from './sdk-calls.ts';
import { Spotter } from './spotter.ts';
import { StateBounds } from './state-bounds.ts';
import type { Checker } from './story/checker.ts';
import { LogStory } from './story/log-story.ts';
import { SessionStories } from './story/session-stories.ts';

export interface CheckerParts {
  readonly simulation: Simulation;
  readonly plan: WorldPlan;
  readonly history: History;
  readonly runs: HandlerRuns;
  readonly situations: Situations;
  /** The runs that clients know. */
  readonly knownRuns: KnownRuns;
  readonly knownSchedules: KnownSchedules;
  /** Positions of the snapshots on the disk. */
  readonly snapshots: () => readonly number[];
}

interface MadeCheckers {
  /** Hooks are called in this order. */
  readonly checkers: readonly Checker[];
  /**
   * Every second world has one: with a projection, finished tasks stay in memory until it has them.
   */
  readonly projection: SimProjection | undefined;
  readonly calls: SdkCalls;
  readonly callbacks: Callbacks;
  readonly answers: Answers;
}

/** Makes all checkers of a world. */
export function makeCheckers(parts: CheckerParts): MadeCheckers {
  const { simulation, plan, history, runs, situations, snapshots, knownRuns } = parts;
  const story = new LogStory(simulation);
  const sessions = new SessionStories(story, plan.graceMsMin);
  const answers = new Answers(story, history.entries);
  story.rules.push(
    sessions,
    new TaskLives(story, plan.schedules !== undefined),
    new Leases(story),
    new EventCauses(story),
    new Submits(story),
    new Attempts(story),
    new ReportsTaken(story),
    new Cancels(story),
    new Timers(story, sessions),
    new Grace(story, sessions),
    new Offers(story, sessions, plan.limits.unsentBytesMax),
    new RedriveRates(story),
    new Namespaces(story),
    new Administration(story),
    new Audits(story),
    answers,
    runs,
    new Spotter(situations),
  );
  // The log does not show room that was reserved only briefly. So the rule needs a world without
  // it.
  if (plan.matching.reserveAfterMs === NO_RESERVATIONS_MS) {
    story.rules.push(new Starvation(story, sessions, { ...MATCHING_DEFAULTS, ...plan.matching }));
  }
  const pace = new ServerPace(simulation, plan);
  const runStories = new RunStories(story, knownRuns, pace);
  if (plan.runs !== undefined) story.rules.push(runStories);
  if (plan.schedules !== undefined) {
    const known = parts.knownSchedules;
    story.rules.push(new ScheduleStories(story, { known, pace, situations }));
  }
  const calls = new SdkCalls(story);
  const callbacks = new Callbacks(story);
  story.rules.push(calls, callbacks);
  const pushes = new Pushes(story, sessions);
  const hasProjection = simulation.random('has projection').chance(0.5);
  const projection = hasProjection
    ? new SimProjection({ simulation, situations, story })
    : undefined;
  story.rules.push(pushes, ...(projection === undefined ? [] : [projection]));
  const model = makeModel(story, plan, hasProjection);
  if (model !== undefined) story.rules.push(model);
  const checkers = [
    new Durability(simulation, snapshots),
    pace,
    // The model stands before the story, because the story immediately tells commands without a
    // record.
    ...(model === undefined ? [] : [model]),
    story,
    new MemoryOfLog(story, history.entries),
    answers,
    pushes,
    ...(plan.runs === undefined ? [] : [new RunAnswers(runStories)]),
    new StateBounds(simulation, plan.limits, hasProjection),
    new IdleRoom(simulation),
    new Punctuality(simulation, plan.graceMsMin),
    new ReplayEquality(simulation),
    new Linearizability({ simulation, situations, entries: history.entries }),
    ...(projection === undefined ? [] : [projection]),
  ];
  return { checkers, projection, calls, callbacks, answers };
}

/** The model searches plain lists, so it is used only in worlds with few tasks. */
const MODEL_TASKS_MAX = 200;

/**
 * No model with a projection: tasks wait for the projection in memory, which the model cannot know.
 * None with runs and schedules, which have models that know them alone.
 */
function makeModel(
  story: LogStory,
  { limits, matching, graceMsMin, runs, schedules }: WorldPlan,
  hasProjection: boolean,
): ModelLockstep | undefined {
  const isUnknown = hasProjection || runs !== undefined || schedules !== undefined;
  if (isUnknown || limits.tasksMax > MODEL_TASKS_MAX) return undefined;
  const rules = { ...MATCHING_DEFAULTS, ...matching };
  return new ModelLockstep(story, { limits, matching: rules, graceMsMin });
}
