import { decideAdvanceTime } from './advance-time.ts';
import type { Command, Replies } from './command.ts';
import type { Decision } from './decision.ts';
import { NO_SLOT, type TaskNumber } from './ids.ts';
import { unreachable } from './invariant.ts';
import { decideReportAttempts } from './report-attempts.ts';
import {
  decideAttachSession,
  decideDetachSession,
  decideDisconnectSession,
  decideExpireSessions,
  decideHearSessions,
  decideSessionRead,
} from './sessions.ts';
import { decideSubmitTasks } from './submit-tasks.ts';

/** Turns a command into events, outputs and a reply. */
export function decide(decision: Decision, command: Command): Replies[Command['type']] {
  switch (command.type) {
    case 'submit_tasks':
      forgetOldest(decision);
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
      return decideAdvanceTime(decision);
    default:
      unreachable(command);
  }
}

/**
 * Keeps finished tasks within their bound (L9). It runs before the command itself, so that no slot
 * which this command speaks of is freed under it.
 */
function forgetOldest({ state, emit, events }: Decision): void {
  const event = events.taskForgotten;
  while (state.finished.length > state.limits.finishedTasksMax) {
    const slot = state.finished.head;
    if (slot === NO_SLOT) return;
    event.slot = slot;
    event.task = state.tasks.number[slot] as TaskNumber;
    emit(event);
  }
}
