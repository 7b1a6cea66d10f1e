import type { SessionId } from '../base/ids.ts';
import type { Report } from '../commands/attempts/report-attempts.ts';
import type { AttachSession } from '../commands/sessions/attach-session.ts';
import type { Resources } from '../task/resources.ts';
import type { TaskSpec } from '../task/task-spec.ts';
import type { OfferedType } from '../workers/roster.ts';
import type { TestDedupe } from './test-payloads.ts';

/** Requests and replies of tests, with only the fields that matter to them. */

export interface TestTask extends Partial<TaskSpec> {
  readonly input?: string;
  readonly dedupe?: TestDedupe;
}

export interface TestReport extends Report {
  readonly payload?: string;
}

/** What a worker offers; `slots` is short for a capacity of only slots. */
export type TestOffer = Partial<
  Omit<AttachSession, 'type' | 'now' | 'types' | 'capacity' | 'labels'>
> & {
  readonly types?: readonly (string | OfferedType)[];
  readonly slots?: number;
  readonly capacity?: Resources;
  readonly labels?: Readonly<Record<string, string>>;
};

/** One push of a task to a worker. */
export interface Push {
  readonly session: SessionId;
  readonly task: number;
  readonly lease: string;
}

/** A stop request or a signal to a worker. */
export interface Notice extends Push {
  readonly reason?: string;
  readonly graceMs?: number;
  readonly name?: string;
  readonly data?: string;
}
