import type { Page, PageOptions } from './pages.ts';
import type {
  BackfillAnswer,
  BackfillRequest,
  FireView,
  ScheduleChange,
  ScheduleExplanation,
  ScheduleRequest,
  ScheduleView,
} from './schedule-types.ts';

/** Selects schedules: all given conditions must hold. */
export interface ScheduleQuery {
  readonly state?: 'active' | 'paused' | 'completed';
  /** Type of the task that it submits. */
  readonly type?: string;
  /** Workflow that it starts. */
  readonly workflow?: string;
  /** Text in the id. */
  readonly q?: string;
  /** Tags of the schedule. */
  readonly tags?: Readonly<Record<string, string>>;
  /** Its next time is before or after this: a date, ISO 8601, or milliseconds since 1970. */
  readonly nextBefore?: Date | string | number;
  readonly nextAfter?: Date | string | number;
}

/** A JSON merge patch of a schedule. */
export type SchedulePatch = {
  readonly [K in keyof ScheduleRequest]?: Partial<ScheduleRequest[K]> | null;
};

/** One change of a batch. */
export type ScheduleBatchItem =
  | ({ readonly op: 'put'; readonly id: string } & ScheduleRequest)
  | ({ readonly op: 'patch'; readonly id: string } & SchedulePatch)
  | { readonly op: 'delete'; readonly id: string };

/** What became of one change of a batch. */
export interface ScheduleBatchResult {
  readonly id: string;
  readonly ok?: true;
  /** `created`, `replaced`, `unchanged` or `deleted`. */
  readonly change?: string;
  /** Why nothing was changed. */
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly details?: readonly { readonly path: string; readonly problem: string }[];
  };
}

/** Operations on schedules that a server and a server in the same process both have. */
export interface SchedulePort {
  putSchedule(id: string, request: ScheduleRequest, dryRun: boolean): Promise<ScheduleChange>;
  patchSchedule(id: string, patch: object): Promise<ScheduleView>;
  deleteSchedule(id: string): Promise<void>;
  /** At most 1,000 changes. */
  changeSchedules(items: readonly ScheduleBatchItem[]): Promise<readonly ScheduleBatchResult[]>;
  getSchedule(id: string): Promise<ScheduleView>;
  listSchedules(query: ScheduleQuery & PageOptions): Promise<Page<ScheduleView>>;
  pauseSchedule(id: string, paused: boolean): Promise<ScheduleView>;
  triggerSchedule(id: string): Promise<FireView>;
  previewSchedule(id: string, count: number): Promise<readonly string[]>;
  backfillSchedule(id: string, request: BackfillRequest): Promise<BackfillAnswer>;
  stopBackfill(id: string): Promise<void>;
  listFires(id: string, page: PageOptions): Promise<Page<FireView>>;
  explainSchedule(id: string): Promise<ScheduleExplanation>;
}
