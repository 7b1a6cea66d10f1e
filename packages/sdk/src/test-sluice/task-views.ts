import {
  isTerminal,
  type Partition,
  REASONS,
  type ReadonlyState,
  type Slot,
  SUCCEEDED_ANSWER,
  TASK_STATES,
  type TaskNumber,
  taskIdText,
} from '@sluice/core';
import type { AttemptView, TaskError, TaskView } from '../task-view.ts';
import { UTF8 } from './payloads.ts';

export function taskIdOf(state: ReadonlyState, slot: Slot): string {
  return taskIdText({
    submittedAt: state.tasks.submittedAt[slot],
    partition: state.partition,
    number: state.tasks.number[slot] as TaskNumber,
  });
}

/** A task as a server shows it. */
export function taskView(partition: Partition, slot: Slot): TaskView {
  const { state } = partition;
  const { tasks } = state;
  const stateName = TASK_STATES[tasks.state[slot]];
  const isTooLate = stateName === 'cancelled' && tasks.answered[slot] === SUCCEEDED_ANSWER;
  const result = payloadOf(state, tasks.result[slot], tasks.resultLength[slot]);
  return {
    id: taskIdOf(state, slot),
    type: state.typeOf(slot),
    state: stateName,
    reason: REASONS[tasks.reason[slot]],
    priority: tasks.priority[slot],
    attempt: tasks.attempt[slot],
    attempts: newestAttempt(state, slot, isTooLate ? { output: result } : {}),
    submittedAt: time(tasks.submittedAt[slot]),
    runAt: stateName === 'waiting' ? time(tasks.dueAt[slot]) : null,
    endedAt: isTerminal(tasks.state[slot]) ? time(tasks.endedAt[slot]) : null,
    cancelRequestedAt: time(tasks.cancelAskedAt[slot]),
    tags: state.tags.at(tasks.tags[slot]) ?? {},
    parentId: state.parents.at(tasks.parent[slot]) || null,
    input: payloadOf(state, tasks.input[slot], tasks.inputLength[slot]),
    output: stateName === 'succeeded' ? result : null,
    error: stateName === 'succeeded' || isTooLate ? null : (result as TaskError | null),
    progress: partition.progressOf(slot) ?? null,
  };
}

export function payloadOf(state: ReadonlyState, reference: number, length: number): unknown {
  if (length === 0) return null;
  const start = state.payloads.startOf(reference);
  return JSON.parse(UTF8.decode(state.payloads.bytesOf(reference).subarray(start, start + length)));
}

function newestAttempt(state: ReadonlyState, slot: Slot, more: object): AttemptView[] {
  const { tasks } = state;
  if (tasks.attempt[slot] === 0) return [];
  const endedAt = time(tasks.endedAt[slot]);
  return [
    {
      attempt: tasks.attempt[slot],
      worker: state.holders.at(tasks.holderOf(slot)).worker,
      leasedAt: time(tasks.leasedAt[slot]),
      startedAt: time(tasks.startedAt[slot]),
      endedAt,
      outcome: endedAt === null ? null : REASONS[tasks.reason[slot]],
      ...more,
    },
  ];
}

function time(ms: number): string | null {
  return ms === 0 ? null : new Date(ms).toISOString();
}
