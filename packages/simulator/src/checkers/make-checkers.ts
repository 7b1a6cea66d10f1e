import type { History } from '../clients/history.ts';
import type { Simulation } from '../kernel/simulation.ts';
import type { WorldPlan } from '../plan/world-plan.ts';
import type { Situations } from '../situations.ts';
import type { Checker } from './checker.ts';
import { Durability } from './durability.ts';
import type { HandlerRuns } from './handler-runs.ts';
import { MemoryOfLog } from './memory-of-log.ts';
import { Leases } from './rules/leases.ts';
import { TaskLives } from './rules/task-lives.ts';
import { Spotter } from './spotter.ts';
import { LogStory } from './story/log-story.ts';

export interface CheckerParts {
  readonly simulation: Simulation;
  readonly plan: WorldPlan;
  readonly history: History;
  readonly runs: HandlerRuns;
  readonly situations: Situations;
}

/** Everything that is checked while a world runs. What is told first is heard first. */
export function makeCheckers(parts: CheckerParts): Checker[] {
  const { simulation, history, runs, situations } = parts;
  const story = new LogStory(simulation);
  story.rules.push(new TaskLives(story), new Leases(story), runs, new Spotter(situations));
  return [new Durability(simulation), story, new MemoryOfLog(story, history.entries)];
}
