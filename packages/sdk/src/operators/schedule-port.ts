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

/** Operations on schedules that a server and a server in the same process both have. */
export interface SchedulePort {
  putSchedule(id: string, request: ScheduleRequest, dryRun: boolean): Promise<ScheduleChange>;
  patchSchedule(id: string, patch: object): Promise<ScheduleView>;
  deleteSchedule(id: string): Promise<void>;
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
