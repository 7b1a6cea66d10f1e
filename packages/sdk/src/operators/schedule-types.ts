// Made by scripts/sdk-types.ts from the schemas of the protocol. Change those, and run it again.
import type {
  CallbackOptions,
  Resources,
  RetryOptions,
  TimeoutOptions,
} from '../task/api-types.ts';
import type { CommandExec, ContainerExec } from '../task/exec-types.ts';

/** When it fires. */
export type ScheduleSpec =
  | {
      /**
       * Five fields (minute, hour, day of the month, month, day of the week), or six with seconds
       * first, or @hourly, @daily, @weekly, @monthly, @yearly.
       */
      readonly cron: string;
      /** A time that clocks skip fires right after the gap. Default "UTC". */
      readonly timeZone?: string;
    }
  | {
      readonly everyMs: number;
      /** fixedDelay counts from the end of what the last fire made. Default "fixedRate". */
      readonly mode?: 'fixedRate' | 'fixedDelay';
      /** ISO 8601, or milliseconds since 1970. */
      readonly startAt?: string | number;
      /** Allows periods below 100 ms. Default false. */
      readonly allowFast?: boolean;
    }
  | {
      /** ISO 8601, or milliseconds since 1970. */
      readonly at: string | number;
    }
  | {
      readonly permanent: true;
      /** This many always run. One that ends is started again. Default 1. */
      readonly replicas?: number;
    };

export interface ScheduleRequest {
  /** When it fires. */
  readonly spec: ScheduleSpec;
  /**
   * The task that it submits. In strings of its input and of exec {{scheduledAt}}, {{firedAt}},
   * {{scheduleId}} and {{fireNumber}} are replaced.
   */
  readonly task?: {
    /**
     * Name that workers register for: letters, digits and . _ : - , at most 128. Tasks with `exec`
     * have the type command or container; no other task can have those.
     */
    readonly type: string;
    /** Any JSON up to 256 KiB. Numbers are doubles. Default null. */
    readonly input?: unknown;
    /** What an agent runs: a program with `command`, or a container with `image`. */
    readonly exec?: CommandExec | ContainerExec;
    /** 8 runs first. Default 4. */
    readonly priority?: number;
    readonly resources?: Resources;
    /**
     * Conditions that the labels of a worker must all meet: label == value, label != value, label
     * in (a, b), label not in (a, b), exists label. A worker without the label meets != and not in.
     */
    readonly constraints?: readonly string[];
    /**
     * Which worker with room gets it: `spread` loads all equally, `pack` fills one worker after the
     * other, so that room for large tasks is left. Default: the setting of the server.
     */
    readonly placement?: 'spread' | 'pack';
    readonly retry?: RetryOptions;
    /**
     * Maximum time in the queue, from the lease to the end, between heartbeats, and in total.
     * Absent means no limit.
     */
    readonly timeouts?: TimeoutOptions;
    readonly tags?: Readonly<Record<string, string>>;
    /** URL to call, for which changes. The secret is never shown. */
    readonly callback?: CallbackOptions;
  };
  /** The run that it starts, instead of a task. */
  readonly run?: {
    /** Name of a workflow: letters, digits and . _ : - , at most 128. */
    readonly workflow: string;
    /** Default: the newest one. */
    readonly version?: number;
    /** Any JSON up to 256 KiB. Numbers are doubles. Default null. */
    readonly input?: unknown;
    /** 8 runs first. Default 4. */
    readonly priority?: number;
    /** Your own id for what the run is about. Runs are found by it. */
    readonly correlationId?: string;
    readonly tags?: Readonly<Record<string, string>>;
  };
  /** Outside of it nothing fires. */
  readonly window?: {
    /** ISO 8601, or milliseconds since 1970. */
    readonly from?: string | number;
    /** ISO 8601, or milliseconds since 1970. */
    readonly to?: string | number;
  };
  /**
   * What happens with times that were missed by more than 10 seconds, as after an outage: nothing,
   * one fire for the latest of them, or all of them, the oldest first. Default "once".
   */
  readonly misfire?: 'skip' | 'once' | 'all';
  /** With `misfire: "all"`: at most this many missed times are run. Default 100. */
  readonly misfireMax?: number;
  /**
   * What happens at a time while the last one still runs: both run, this time is skipped, it waits
   * for its turn, or the last one is cancelled. Default "allow".
   */
  readonly overlap?: 'allow' | 'skip' | 'queue' | 'cancelPrevious';
  /** Each fire is delayed by a random time up to this. Default 0. */
  readonly jitterMs?: number;
  /** Default false. */
  readonly paused?: boolean;
  readonly tags?: Readonly<Record<string, string>>;
}

export interface ScheduleView {
  /** Id of a schedule, chosen by its author: letters, digits and . _ : - , at most 128. */
  readonly id: string;
  readonly state: 'active' | 'paused' | 'completed';
  /** Counts the changes of the schedule. */
  readonly revision: number;
  /** When it fires. */
  readonly spec: ScheduleSpec;
  /**
   * The task that it submits. In strings of its input and of exec {{scheduledAt}}, {{firedAt}},
   * {{scheduleId}} and {{fireNumber}} are replaced.
   */
  readonly task?: {
    /**
     * Name that workers register for: letters, digits and . _ : - , at most 128. Tasks with `exec`
     * have the type command or container; no other task can have those.
     */
    readonly type: string;
    /** Any JSON up to 256 KiB. Numbers are doubles. Default null. */
    readonly input?: unknown;
    /** What an agent runs: a program with `command`, or a container with `image`. */
    readonly exec?: CommandExec | ContainerExec;
    /** 8 runs first. Default 4. */
    readonly priority?: number;
    readonly resources?: Resources;
    /**
     * Conditions that the labels of a worker must all meet: label == value, label != value, label
     * in (a, b), label not in (a, b), exists label. A worker without the label meets != and not in.
     */
    readonly constraints?: readonly string[];
    /**
     * Which worker with room gets it: `spread` loads all equally, `pack` fills one worker after the
     * other, so that room for large tasks is left. Default: the setting of the server.
     */
    readonly placement?: 'spread' | 'pack';
    readonly retry?: RetryOptions;
    /**
     * Maximum time in the queue, from the lease to the end, between heartbeats, and in total.
     * Absent means no limit.
     */
    readonly timeouts?: TimeoutOptions;
    readonly tags?: Readonly<Record<string, string>>;
    /** URL to call, for which changes. The secret is never shown. */
    readonly callback?: CallbackOptions;
  };
  /** The run that it starts, instead of a task. */
  readonly run?: {
    /** Name of a workflow: letters, digits and . _ : - , at most 128. */
    readonly workflow: string;
    /** Default: the newest one. */
    readonly version?: number;
    /** Any JSON up to 256 KiB. Numbers are doubles. Default null. */
    readonly input?: unknown;
    /** 8 runs first. Default 4. */
    readonly priority?: number;
    /** Your own id for what the run is about. Runs are found by it. */
    readonly correlationId?: string;
    readonly tags?: Readonly<Record<string, string>>;
  };
  /** Outside of it nothing fires. */
  readonly window?: {
    /** ISO 8601, or milliseconds since 1970. */
    readonly from?: string | number;
    /** ISO 8601, or milliseconds since 1970. */
    readonly to?: string | number;
  };
  /**
   * What happens with times that were missed by more than 10 seconds, as after an outage: nothing,
   * one fire for the latest of them, or all of them, the oldest first. Default "once".
   */
  readonly misfire?: 'skip' | 'once' | 'all';
  /** With `misfire: "all"`: at most this many missed times are run. Default 100. */
  readonly misfireMax?: number;
  /**
   * What happens at a time while the last one still runs: both run, this time is skipped, it waits
   * for its turn, or the last one is cancelled. Default "allow".
   */
  readonly overlap?: 'allow' | 'skip' | 'queue' | 'cancelPrevious';
  /** Each fire is delayed by a random time up to this. Default 0. */
  readonly jitterMs?: number;
  readonly paused: boolean;
  readonly tags?: Readonly<Record<string, string>>;
  readonly createdAt: string;
  readonly changedAt: string;
  /** Null when it is paused, waits for the end of the last one, or has completed. */
  readonly nextFireAt: string | null;
  readonly lastFireAt: string | null;
  /** Fires that made a task or run. */
  readonly fireCount: number;
  /** Times that made nothing. */
  readonly skipCount: number;
  readonly lastSkip: {
    readonly scheduledAt: string;
    readonly reason:
      | 'on_time'
      | 'misfire'
      | 'overlap'
      | 'no_room'
      | 'quota_exceeded'
      | 'workflow_not_found'
      | 'unfit_input';
  } | null;
  /** What it made last, or its replicas, as far as they have not ended. */
  readonly running: readonly {
    readonly taskId?: string;
    readonly runId?: string;
  }[];
  readonly backfill: {
    readonly nextTime: string | null;
    readonly until: string;
    readonly ratePerSec: number;
    readonly done: number;
  } | null;
}

export interface ScheduleChange {
  /** Id of a schedule, chosen by its author: letters, digits and . _ : - , at most 128. */
  readonly id: string;
  readonly change: 'created' | 'replaced' | 'unchanged' | 'deleted';
  readonly dryRun: boolean;
  /** The next times, at most five. */
  readonly nextFires: readonly string[];
}

export interface FireView {
  readonly scheduledAt: string;
  readonly firedAt: string;
  readonly taskId?: string;
  readonly runId?: string;
  /** State of the task, or status of the run. */
  readonly status: string;
  readonly endedAt: string | null;
}

export interface ScheduleExplanation {
  readonly state: string;
  readonly summary: string;
  readonly reasons: readonly {
    readonly code: string;
    readonly message: string;
  }[];
}

export interface BackfillRequest {
  /** ISO 8601, or milliseconds since 1970. */
  readonly from: string | number;
  /** ISO 8601, or milliseconds since 1970. */
  readonly to: string | number;
  /** Default 10. */
  readonly ratePerSec?: number;
  /** Default false. */
  readonly dryRun?: boolean;
}

export interface BackfillAnswer {
  /** Times in the range. */
  readonly count: number;
  /** False when there are more than were counted. */
  readonly isComplete: boolean;
  readonly first: string | null;
  readonly last: string | null;
  readonly dryRun: boolean;
}

export interface ScheduleCalendar {
  readonly from: string;
  /** The length of an interval. */
  readonly stepMs: number;
  /** Times in each interval, from `from` on. */
  readonly counts: readonly number[];
  /** False when there are too many schedules or times to count all of them. */
  readonly isComplete: boolean;
}
