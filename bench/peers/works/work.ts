import type { Stage } from '../stage.ts';

export type Metric =
  | 'perSecond'
  | 'runsPerSecond'
  | 'p50Ms'
  | 'p99Ms'
  | 'lost'
  | 'doubled'
  | 'bytesEach'
  | 'cpuPercent'
  | 'overtaking';

/** The figures of a work, by metric. */
export type Figures = Readonly<Partial<Record<Metric, number>>>;

export interface Work {
  /** What it does, for the table. */
  readonly what: string;
  /** Whether to run contenders that differ only in their submits. */
  readonly isAboutSubmits: boolean;
  /** Runs with `share` of the full number of tasks, or of the full time, where that takes long. */
  readonly run: (stage: Stage, share: number) => Promise<Figures>;
}

export const SLOTS = 100;

/** Node needs about 20,000 tasks until the code of every contender is optimized. */
const WARM_UP = 0.4;

/**
 * Number of tasks that run before the clock starts, to warm up compilers and caches. It follows
 * from the full number: code is as cold in front of few tasks as in front of many.
 */
export function warmUpOf(fullTasks: number): number {
  return fullTasks * WARM_UP;
}

export const UNITS: Readonly<Record<Metric, string>> = {
  perSecond: 'tasks/s',
  runsPerSecond: 'runs/s',
  p50Ms: 'ms',
  p99Ms: 'ms',
  lost: 'tasks',
  doubled: 'tasks',
  bytesEach: 'bytes',
  cpuPercent: '% of a core',
  overtaking: 'tasks',
};
