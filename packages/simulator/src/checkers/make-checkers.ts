import type { History } from '../clients/history.ts';
import type { Simulation } from '../kernel/simulation.ts';
import type { WorldPlan } from '../plan/world-plan.ts';
import type { Situations } from '../situations.ts';
import type { Checker } from './checker.ts';
import { Durability } from './durability.ts';
import type { HandlerRuns } from './handler-runs.ts';
import { MemoryOfLog } from './memory-of-log.ts';
import { Administration } from './rules/administration.ts';
import { Attempts } from './rules/attempts.ts';
import { Cancels } from './rules/cancels.ts';
import { EventCauses } from './rules/causes.ts';
import { Grace } from './rules/grace.ts';
import { Leases } from './rules/leases.ts';
import { Namespaces } from './rules/namespaces.ts';
import { Offers } from './rules/offers.ts';
import { RedriveRates } from './rules/redrives.ts';
import { ReportsTaken } from './rules/reports.ts';
import { Submits } from './rules/submits.ts';
import { TaskLives } from './rules/task-lives.ts';
import { Timers } from './rules/timers.ts';
import { Spotter } from './spotter.ts';
import { LogStory } from './story/log-story.ts';
import { SessionStories } from './story/session-stories.ts';

export interface CheckerParts {
  readonly simulation: Simulation;
  readonly plan: WorldPlan;
  readonly history: History;
  readonly runs: HandlerRuns;
  readonly situations: Situations;
}

/** Everything that is checked while a world runs. What is told first is heard first. */
export function makeCheckers(parts: CheckerParts): Checker[] {
  const { simulation, plan, history, runs, situations } = parts;
  const story = new LogStory(simulation);
  const sessions = new SessionStories(story, plan.graceMsMin);
  story.rules.push(
    sessions,
    new TaskLives(story),
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
    runs,
    new Spotter(situations),
  );
  return [new Durability(simulation), story, new MemoryOfLog(story, history.entries)];
}
