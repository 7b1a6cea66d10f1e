import { drawAgents, drawSchedules, type WorldPlan, withRuns } from './world-plan.ts';

/** What is left out of a plan, to find the smallest plan that still fails. */
export interface Overrides {
  /** Indexes of the faults that remain. */
  readonly faults?: readonly number[];
  readonly workers?: number;
  readonly clients?: number;
  /** Milliseconds after which the world ends. */
  readonly until?: number;
  /** The network does not lose, duplicate or cut anything, except by planned faults. */
  readonly calm?: boolean;
  /** The world has runs of workflows, whatever its seed says. */
  readonly runs?: boolean;
  /** The world has schedules, whatever its seed says. */
  readonly schedules?: boolean;
  /** The world has agents, whatever its seed says. */
  readonly agents?: boolean;
  /** Several servers on one database, instead of one with a disk. */
  readonly cluster?: boolean;
}

export function withOverrides(plan: WorldPlan, overrides: Overrides): WorldPlan {
  const { faults, workers = plan.workers, clients = plan.clients, until, calm } = overrides;
  const { runs, schedules, agents } = overrides;
  const quiet = { lossRate: 0, duplicateRate: 0, cutRate: 0 };
  const whole = runs === true ? withRuns(plan) : plan;
  return {
    ...whole,
    workers,
    rogues: Math.min(plan.rogues, workers),
    clients,
    durationMs: until ?? plan.durationMs,
    network: calm === true ? { ...plan.network, ...quiet } : plan.network,
    schedules: schedules === true ? drawSchedules(plan.seed) : plan.schedules,
    agents: agents === true ? drawAgents(plan.seed, plan.faults.length === 0) : plan.agents,
    faults: faults === undefined ? plan.faults : faults.map((place) => plan.faults[place]),
  };
}

/** The command line flags for these overrides. */
export function flagsOf(overrides: Overrides): string {
  const { faults, workers, clients, until, calm, runs, schedules, agents, cluster } = overrides;
  return [
    faults === undefined ? '' : `--faults ${faults.length === 0 ? 'none' : faults.join(',')}`,
    workers === undefined ? '' : `--workers ${workers}`,
    clients === undefined ? '' : `--clients ${clients}`,
    until === undefined ? '' : `--until ${until}`,
    calm === true ? '--calm' : '',
    runs === true ? '--runs' : '',
    schedules === true ? '--schedules' : '',
    agents === true ? '--agents' : '',
    cluster === true ? '--cluster' : '',
  ]
    .filter((flag) => flag !== '')
    .join(' ');
}
