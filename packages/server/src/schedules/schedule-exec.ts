import { type ReadonlyState, type Slot, shownSettings, viewSchedule } from '@sluice/core';
import type { ErrorDetail, ScheduleRequest, ScheduleView } from '@sluice/protocol';
import { envelopeOf, hideSecrets, isExecType, readEnvelope } from '../base/exec-envelope.ts';
import { UTF8 } from '../base/utf8.ts';

/**
 * A schedule of commands is stored as one of tasks whose input has `exec` in front, as the tasks
 * that it makes are. So placeholders are replaced in the arguments of the command, too.
 */
export function withExecInside(schedule: ScheduleRequest): ScheduleRequest {
  const { task } = schedule;
  if (task?.exec === undefined) return schedule;
  const { exec, input, ...rest } = task;
  return { ...schedule, task: { ...rest, input: envelopeOf(exec, { input }) } };
}

/** A schedule does not keep blobs, so one could be gone when it fires. */
export function fileProblems({ task }: ScheduleRequest): ErrorDetail[] {
  const files = Object.entries(task?.exec?.files ?? {});
  return files
    .filter(([, file]) => typeof file !== 'string')
    .map(([name]) => ({
      path: `/task/exec/files/${name}`,
      problem: 'is a blob; a schedule takes texts only',
    }));
}

/** A schedule as its author wrote it. Secrets are in it. */
export function writtenSchedule(state: ReadonlyState, slot: Slot): object {
  return withExecBeside(shownSettings(state, slot, UTF8));
}

/** A schedule as answers show it, without secrets. */
export function scheduleView(state: ReadonlyState, slot: Slot): ScheduleView {
  const { task, ...view } = withExecBeside(viewSchedule(state, slot, UTF8) as ScheduleView);
  return (task === undefined ? view : { ...view, task: hideSecrets(task) }) as ScheduleView;
}

interface WithTask {
  readonly task?: { readonly type: string; readonly input?: unknown };
}

function withExecBeside<T extends WithTask>(schedule: T): T {
  const { task } = schedule;
  if (task === undefined || !isExecType(task.type)) return schedule;
  const envelope = readEnvelope(task.type, JSON.stringify(task.input));
  if (envelope === undefined) return schedule;
  const { input: _, ...rest } = task;
  const { exec, input } = envelope;
  const beside = input === null || input === undefined ? { exec } : { exec, input };
  return { ...schedule, task: { ...rest, ...beside } };
}
