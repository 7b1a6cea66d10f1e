import { queueKey } from '../../base/queue-key.ts';
import { audit } from '../../decision/audit.ts';
import type { Authored, Timed } from '../../decision/command-fields.ts';
import type { Decision } from '../../decision/decision.ts';
import { exceededQuota } from '../../state/quotas.ts';
import { TASK_TYPES_MAX } from '../../state/state.ts';

export interface SetQueuePaused extends Timed, Authored {
  readonly type: 'set_queue_paused';
  readonly taskType: string;
  readonly paused: boolean;
}

export interface SetQueuePausedReply {
  readonly rejection?: 'too_many_types' | 'quota_exceeded';
}

/** Pauses or resumes a queue. This is one event on the queue, however many tasks wait in it. */
export function decideSetQueuePaused(
  decision: Decision,
  command: SetQueuePaused,
): SetQueuePausedReply {
  const { state, emit, events } = decision;
  const key = queueKey(command.namespace, command.taskType);
  const queue = state.queueOf(key);
  if ((queue?.paused ?? false) === command.paused) return {};
  if (queue === undefined && state.queueCount >= TASK_TYPES_MAX) {
    return { rejection: 'too_many_types' };
  }
  if (queue === undefined && exceededQuota(state, command.namespace, { taskTypes: 1 })) {
    return { rejection: 'quota_exceeded' };
  }
  events.queueChanged.taskType = key;
  events.queueChanged.paused = command.paused;
  emit(events.queueChanged);
  const action = command.paused ? 'queue_paused' : 'queue_resumed';
  audit(decision, command.by, { namespace: command.namespace, action });
  return {};
}
