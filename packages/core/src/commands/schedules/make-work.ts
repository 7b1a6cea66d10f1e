import type { Slot } from '../../base/ids.ts';
import { runIdText } from '../../base/run-id.ts';
import { taskIdText } from '../../base/task-id.ts';
import type { Decision } from '../../decision/decision.ts';
import { fillPlaceholders } from '../../schedule/placeholders.ts';
import type { FireReason, ScheduleSettings } from '../../schedule/schedule-settings.ts';
import type { MadeWork } from '../../state/schedules/earlier-works.ts';
import { isLive } from '../../state/schedules/live-works.ts';
import { inputOf, nameOf } from '../../state/schedules/read-schedule.ts';
import type { ReadonlyState } from '../../state/state.ts';
import { decideCancelRuns } from '../runs/cancel-runs.ts';
import { decideStartRuns } from '../runs/start-runs.ts';
import { decideCancelTasks } from '../tasks/cancel-tasks.ts';
import { decideSubmitTasks } from '../tasks/submit-tasks.ts';

/** How long workers may take to stop what a schedule cancels. */
const GRACE_MS = 10_000;

/** An input that placeholders make larger than requests may be is refused. */
const INPUT_BYTES_MAX = 256 * 1024;

/** Tags of what a schedule makes. */
export const SCHEDULE_TAG = 'sluice.schedule';
export const SCHEDULED_AT_TAG = 'sluice.scheduledAt';

/** What a fire made, or why it made nothing. */
export type Work =
  | { readonly made: number; readonly isRun: boolean }
  | { readonly refused: FireReason };

export interface Fire {
  readonly slot: Slot;
  readonly settings: ScheduleSettings;
  readonly scheduledAt: number;
}

/** Submits the task or starts the run of a schedule. */
export function makeWork(decision: Decision, fire: Fire): Work {
  const { state, now } = decision;
  const { slot, settings } = fire;
  const namespace = namespaceNameOf(state, slot);
  const inputs = inputFor(decision, fire);
  if (inputs.length > INPUT_BYTES_MAX) return { refused: 'unfit_input' };
  const tags = tagsFor(decision, fire);
  const batch = { now, namespace, inputs, inputEnds: [inputs.length] };
  if (settings.task !== undefined) {
    const task = { ...settings.task, tags: { ...settings.task.tags, ...tags } };
    const command = { type: 'submit_tasks' as const, ...batch, tasks: [task] };
    const { rejection, slots } = decideSubmitTasks(decision, command);
    if (rejection !== undefined) return { refused: reasonOf(rejection) };
    return { made: state.tasks.number[slots[0]], isRun: false };
  }
  const { run = { workflow: '' } } = settings;
  const runs = [{ version: 0, ...run, tags: { ...run.tags, ...tags } }];
  const { rejection, slots } = decideStartRuns(decision, { type: 'start_runs', ...batch, runs });
  if (rejection !== undefined) return { refused: reasonOf(rejection) };
  return { made: state.runs.table.number[slots[0]], isRun: true };
}

function reasonOf(rejection: string): FireReason {
  if (rejection === 'quota_exceeded' || rejection === 'workflow_not_found') return rejection;
  const isUnfit = rejection === 'unfit_input' || rejection === 'value_too_large';
  return isUnfit ? 'unfit_input' : 'no_room';
}

/** With these tags people find what a schedule made, and for which time. */
function tagsFor({ state, runWork }: Decision, { slot, scheduledAt }: Fire) {
  return {
    [SCHEDULE_TAG]: nameOf(state, slot, runWork.utf8),
    [SCHEDULED_AT_TAG]: new Date(scheduledAt).toISOString(),
  };
}

/** A copy, because the arena may move what a fire reads from it. */
function inputFor(decision: Decision, { slot, scheduledAt }: Fire): Uint8Array {
  const { state, now, runWork } = decision;
  const { table } = state.schedules;
  const { bytes, start, end } = inputOf(state, slot);
  if (table.hasPlaceholders[slot] === 0) return bytes.slice(start, end);
  const text = fillPlaceholders(runWork.utf8.decode(bytes.subarray(start, end)), {
    scheduledAt: new Date(scheduledAt).toISOString(),
    firedAt: new Date(now).toISOString(),
    scheduleId: nameOf(state, slot, runWork.utf8),
    fireNumber: String(table.fires[slot] + 1),
  });
  return runWork.utf8.encode(text);
}

function namespaceNameOf({ schedules, namespaces }: ReadonlyState, slot: Slot): string {
  return namespaces.nameAt(schedules.table.namespace[slot]);
}

/** Cancels what a schedule made. */
export function cancelMade(decision: Decision, slot: Slot, work: MadeWork): void {
  const { state, now } = decision;
  if (!isLive(state, work)) return;
  const namespace = namespaceNameOf(state, slot);
  const key = { submittedAt: work.madeAt, partition: state.partition, number: work.made as never };
  if (work.isRun) {
    decideCancelRuns(decision, { type: 'cancel_runs', now, namespace, ids: [runIdText(key)] });
    return;
  }
  const ids = [taskIdText(key)];
  decideCancelTasks(decision, { type: 'cancel_tasks', now, namespace, ids, graceMs: GRACE_MS });
}
