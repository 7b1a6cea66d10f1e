import type { Tags } from '../task/task-labels.ts';
import type { TaskSpec } from '../task/task-spec.ts';

/** When a schedule fires. Times are in milliseconds. */
export type ScheduleSpec = CronSpec | EverySpec | OnceSpec | PermanentSpec;

interface CronSpec {
  readonly cron: string;
  readonly timeZone: string;
}

interface EverySpec {
  readonly everyMs: number;
  /** `fixedDelay` counts from the end of what the last fire made. */
  readonly mode: 'fixedRate' | 'fixedDelay';
  readonly startAt?: number;
  readonly allowFast?: boolean;
}

interface OnceSpec {
  readonly at: number;
}

interface PermanentSpec {
  readonly permanent: true;
  readonly replicas: number;
}

/** The run that a fire starts. */
export interface RunTarget {
  readonly workflow: string;
  /** Absent for the newest version at the time of the fire. */
  readonly version?: number;
  readonly priority?: number;
  readonly correlationId?: string;
  readonly tags?: Tags;
}

/** What a schedule says, without its id and the input of what it makes. */
export interface ScheduleSettings {
  readonly spec: ScheduleSpec;
  /** One of the two. */
  readonly task?: TaskSpec;
  readonly run?: RunTarget;
  readonly window?: { readonly from?: number; readonly to?: number };
  readonly misfire?: 'skip' | 'once' | 'all';
  readonly misfireMax?: number;
  readonly overlap?: 'allow' | 'skip' | 'queue' | 'cancelPrevious';
  readonly jitterMs?: number;
  readonly tags?: Tags;
}

export const MISFIRE_MAX_DEFAULT = 100;

/** A fire that is later than this counts as missed, and so do all later times up to now. */
export const MISFIRE_AFTER_MS = 10_000;

/** What a schedule waits for after a fire, before its next time counts. */
export const WAITS_FOR_TIME = 0;
/** The end of the last one, then its next time: `overlap: "queue"`. */
const WAITS_FOR_END = 1;
/** The end of the last one, then one period: `fixedDelay`. */
export const WAITS_FOR_DELAY = 2;

export function waitOf({ spec, overlap }: ScheduleSettings): number {
  if ('everyMs' in spec && spec.mode === 'fixedDelay') return WAITS_FOR_DELAY;
  return overlap === 'queue' ? WAITS_FOR_END : WAITS_FOR_TIME;
}

/** Number of replicas that always run; 0 for a schedule that fires at times. */
export function replicasOf({ spec }: ScheduleSettings): number {
  return 'permanent' in spec ? spec.replicas : 0;
}

/** Why a fire made nothing, or why it was late. Logged as an index. */
export const FIRE_REASONS = [
  'on_time',
  'misfire',
  'overlap',
  'no_room',
  'quota_exceeded',
  'workflow_not_found',
  'unfit_input',
] as const;

export type FireReason = (typeof FIRE_REASONS)[number];

/** Why a schedule fired. Logged as an index. */
export const FIRE_CAUSES = ['time', 'trigger', 'backfill', 'replica'] as const;

export type FireCause = (typeof FIRE_CAUSES)[number];
