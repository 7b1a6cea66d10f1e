import { decideAdvanceTime } from './advance-time.ts';
import { decideBeginAgain, decideRecordBackup } from './begin-again.ts';
import { decideRecordDelivery, decideRedeliver, dropUndelivered } from './callbacks.ts';
import { decideCancelTasks } from './cancel-tasks.ts';
import type { Command, Replies } from './command.ts';
import { decideCreateAccessKey, decideRevokeAccessKey } from './decide-access.ts';
import type { Decision } from './decision.ts';
import { decideEndTask, decideSignalTask } from './end-task.ts';
import { NO_SLOT, type TaskNumber } from './ids.ts';
import { unreachable } from './invariant.ts';
import { settle } from './matching.ts';
import { decidePatchTasks } from './patch-tasks.ts';
import { decidePauseTask, decideResumeTask, decideSetQueuePaused } from './pause-tasks.ts';
import { decidePutTaskType } from './put-task-type.ts';
import {
  decideDiscardDeadLetters,
  decideEndRedrive,
  decideStartRedrive,
  dropOldest,
  dropOverflow,
} from './redrive-tasks.ts';
import { decideReportAttempts } from './report-attempts.ts';
import { decideReadmitTask, decideRetryTasks } from './retry-tasks.ts';
import {
  decideAttachSession,
  decideDetachSession,
  decideDisconnectSession,
  decideDrainSession,
  decideExpireSessions,
  decideHearSessions,
  decideSessionRead,
} from './sessions.ts';
import { decideSubmitTasks } from './submit-tasks.ts';
import type { TaskCommand } from './task-commands.ts';

/** Turns a command into events, outputs and a reply, and leases out what it readied. */
export function decide(decision: Decision, command: Command): Replies[Command['type']] {
  const reply = carryOut(decision, command);
  settle(decision);
  return reply;
}

function carryOut(decision: Decision, command: Command): Replies[Command['type']] {
  switch (command.type) {
    case 'submit_tasks':
      forgetOldest(decision, command.inputEnds[command.tasks.length - 1]);
      return decideSubmitTasks(decision, command);
    case 'report_attempts':
      forgetOldest(decision);
      return decideReportAttempts(decision, command);
    case 'attach_session':
      return decideAttachSession(decision, command);
    case 'disconnect_session':
      decideDisconnectSession(decision, command);
      return undefined;
    case 'detach_session':
      return decideDetachSession(decision, command);
    case 'drain_session':
      return decideDrainSession(decision, command);
    case 'expire_sessions':
      decideExpireSessions(decision);
      return undefined;
    case 'session_read':
      decideSessionRead(decision, command);
      return undefined;
    case 'hear_sessions':
      decideHearSessions(decision);
      return undefined;
    case 'advance_time':
      forgetOldest(decision);
      return decideAdvanceTime(decision, command);
    case 'record_backup':
      decideRecordBackup(decision, command);
      return undefined;
    case 'begin_again':
      return decideBeginAgain(decision, command);
    case 'create_access_key':
      return decideCreateAccessKey(decision, command);
    case 'revoke_access_key':
      return decideRevokeAccessKey(decision, command);
    case 'record_delivery':
      return decideRecordDelivery(decision, command);
    case 'redeliver_callbacks':
      return decideRedeliver(decision, command);
    default:
      return decideTaskCommand(decision, command);
  }
}

function decideTaskCommand(decision: Decision, command: TaskCommand): Replies[TaskCommand['type']] {
  switch (command.type) {
    case 'cancel_tasks':
      return decideCancelTasks(decision, command);
    case 'patch_tasks':
      return decidePatchTasks(decision, command);
    case 'pause_task':
      return decidePauseTask(decision, command);
    case 'resume_task':
      return decideResumeTask(decision, command);
    case 'retry_tasks':
      return decideRetryTasks(decision, command);
    case 'readmit_task':
      forgetOldest(decision, command.input.length);
      return decideReadmitTask(decision, command);
    case 'end_task':
      return decideEndTask(decision, command);
    case 'signal_task':
      return decideSignalTask(decision, command);
    case 'set_queue_paused':
      return decideSetQueuePaused(decision, command);
    case 'put_task_type':
      return decidePutTaskType(decision, command);
    case 'start_redrive':
      return decideStartRedrive(decision, command);
    case 'end_redrive':
      return decideEndRedrive(decision, command);
    case 'discard_dead_letters':
      return decideDiscardDeadLetters(decision, command);
    default:
      unreachable(command);
  }
}

/** More than a command can finish, and few enough not to be felt when there is a backlog. */
const FORGOTTEN_PER_COMMAND = 20_000;

/**
 * Keeps finished tasks and dead letters within their bounds (L9), except those that nobody else has
 * yet. It runs before the command itself, so that no slot which this command speaks of is freed
 * under it. `bytes` is what the command adds.
 */
function forgetOldest(decision: Decision, bytes = 0): void {
  const { state, emit, events, projectedBefore } = decision;
  dropOverflow(decision);
  dropUndelivered(decision);
  const { finishedTasksMax, payloadBytesMax } = state.limits;
  const event = events.taskForgotten;
  for (let count = 0; count < FORGOTTEN_PER_COMMAND; count++) {
    const slot = state.finished.head;
    const isWithin =
      state.finished.length <= finishedTasksMax && state.heldBytes + bytes <= payloadBytesMax;
    if (isWithin) return;
    if (slot === NO_SLOT) {
      if (!dropOldest(decision)) return;
      continue;
    }
    if (state.tasks.endedAt[slot] >= projectedBefore) return;
    event.slot = slot;
    event.task = state.tasks.number[slot] as TaskNumber;
    emit(event);
  }
}
