import type { SessionId } from '../base/ids.ts';
import type { Report } from '../commands/attempts/report-attempts.ts';
import type { AttachSession } from '../commands/sessions/attach-session.ts';
import type { Resources } from '../task/resources.ts';
import type { TaskSpec } from '../task/task-spec.ts';
import type { OfferedType } from '../workers/roster.ts';
import type { TestDedupe } from './test-payloads.ts';

/** What tests say to a partition and hear from it: only what matters to them. */

export interface TestTask extends Partial<TaskSpec> {
  readonly input?: string;
  readonly dedupe?: TestDedupe;
}

export interface TestReport extends Report {
  readonly payload?: string;
}

/** What a worker offers; `slots` stands for a capacity of so many slots. */
export type TestOffer = Partial<
  Omit<AttachSession, 'type' | 'now' | 'types' | 'capacity' | 'labels'>
> & {
  readonly types?: readonly (string | OfferedType)[];
  readonly slots?: number;
  readonly capacity?: Resources;
  readonly labels?: Readonly<Record<string, string>>;
};

/** One task on its way to a worker. */
export interface Push {
  readonly session: SessionId;
  readonly task: number;
  readonly lease: string;
}

/** A worker is told to stop, or told something. */
export interface Notice extends Push {
  readonly reason?: string;
  readonly graceMs?: number;
  readonly name?: string;
  readonly data?: string;
}
