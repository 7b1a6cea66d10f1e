import { queueKey } from '../../base/queue-key.ts';
import { audit } from '../../decision/audit.ts';
import type { Authored, Timed } from '../../decision/command-fields.ts';
import type { Decision } from '../../decision/decision.ts';
import { TASK_TYPES_MAX } from '../../state/state.ts';
import type { TaskTypeDefinition } from '../../state/task-types.ts';

export interface PutTaskType extends Timed, Authored {
  readonly type: 'put_task_type';
  readonly taskType: string;
  /** Undefined removes the definition. */
  readonly definition: TaskTypeDefinition | undefined;
}

export interface PutTaskTypeReply {
  readonly rejection?: 'too_many_types' | 'quota_exceeded';
  /** Whether a definition existed before. */
  readonly existed: boolean;
}

/** Registers or removes the defaults of a task type. Existing tasks do not change. */
export function decidePutTaskType(decision: Decision, command: PutTaskType): PutTaskTypeReply {
  const { state, emit, events } = decision;
  const key = queueKey(command.namespace, command.taskType);
  const before = state.taskTypes.textOf(key);
  const existed = before !== '';
  const { definition } = command;
  const text = definition === undefined ? '' : JSON.stringify(definition);
  if (text === before) return { existed };
  if (!existed && state.taskTypes.size >= TASK_TYPES_MAX) {
    return { rejection: 'too_many_types', existed };
  }
  const definedMax = state.limits.quotas?.taskTypesMax ?? TASK_TYPES_MAX;
  if (!existed && state.taskTypes.countOf(command.namespace) >= definedMax) {
    return { rejection: 'quota_exceeded', existed };
  }
  events.taskTypeChanged.taskType = key;
  events.taskTypeChanged.definition = text;
  emit(events.taskTypeChanged);
  const action = text === '' ? 'task_type_removed' : 'task_type_defined';
  audit(decision, command.by, { namespace: command.namespace, action });
  return { existed };
}
