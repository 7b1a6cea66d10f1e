import { NO_SLOT, type Slot, type TaskNumber } from '../../base/ids.ts';
import { queueKey } from '../../base/queue-key.ts';
import { audit } from '../../decision/audit.ts';
import type { Authored, Timed } from '../../decision/command-fields.ts';
import type { Decision } from '../../decision/decision.ts';
import { PATCHED_RUN_AT } from '../../events/task-events.ts';
import { retry } from '../tasks/retry-tasks.ts';
import { countDead, deadAmong, oldestDead } from './dead-letter-scope.ts';

/** Every redrive is checked whenever time advances. */
const REDRIVES_MAX = 100;

const RATE_MIN = 0.001;

/** Retries all dead letters that exist now, at a limited rate. */
export interface StartRedrive extends Timed, Authored {
  readonly type: 'start_redrive';
  /** Only tasks of this type. Without it: all types of the namespace. */
  readonly taskType?: string;
  /** Only these tasks, by number. They are retried at once, without a running redrive. */
  readonly tasks?: readonly number[];
  /**
   * With `tasks`: how long the first of them waits; each next one waits longer, by the rate.
   * Without it none of them waits.
   */
  readonly firstAfterMs?: number;
  /** Rounded to 0.001; lower rates count as 0.001. */
  readonly ratePerSec: number;
}

export interface StartRedriveReply {
  readonly rejection?: 'too_many_redrives';
  /** Number of the redrive; 0 when it was refused or has already ended. */
  readonly redrive: number;
  /** Number of dead letters that it will retry, unless they are retried otherwise first. */
  readonly count: number;
}

export interface EndRedrive extends Timed, Authored {
  readonly type: 'end_redrive';
  readonly redrive: number;
}

export interface EndRedriveReply {
  readonly found: boolean;
}

export function decideStartRedrive(decision: Decision, command: StartRedrive): StartRedriveReply {
  const { state, emit, events } = decision;
  if (command.tasks !== undefined) return redriveAtOnce(decision, command, command.tasks);
  if (state.redrives.size >= REDRIVES_MAX) {
    return { rejection: 'too_many_redrives', redrive: 0, count: 0 };
  }
  const event = events.redriveStarted;
  event.redrive = state.redrives.next;
  event.namespace = command.namespace;
  event.taskType =
    command.taskType === undefined ? '' : queueKey(command.namespace, command.taskType);
  event.ratePer1000Sec = Math.max(1, Math.round(command.ratePerSec * 1000));
  emit(event);
  audit(decision, command.by, { namespace: command.namespace, action: 'redrive_started' });
  return { redrive: event.redrive, count: countDead(state, event) };
}

function redriveAtOnce(
  decision: Decision,
  { namespace, by, firstAfterMs, ratePerSec }: StartRedrive,
  tasks: readonly number[],
): StartRedriveReply {
  const slots = deadAmong(decision.state, namespace, tasks);
  if (slots.length > 0) audit(decision, by, { namespace, action: 'redrive_started' });
  const everyMs = 1000 / Math.max(RATE_MIN, ratePerSec);
  slots.forEach((slot, index) => {
    retry(decision, slot, 0);
    if (firstAfterMs !== undefined) delay(decision, slot, firstAfterMs + index * everyMs);
  });
  return { redrive: 0, count: slots.length };
}

/** Lets a task that was queued wait for its time. */
function delay({ state, emit, events, now }: Decision, slot: Slot, waitMs: number): void {
  if (waitMs <= 0) return;
  const event = events.taskPatched;
  event.slot = slot;
  event.task = state.tasks.number[slot] as TaskNumber;
  event.fields = PATCHED_RUN_AT;
  event.priority = 0;
  event.runAt = Math.ceil(now + waitMs);
  event.timeouts = '';
  event.tags = '';
  Object.assign(event.input, NO_INPUT);
  emit(event);
}

const NO_INPUT = { bytes: new Uint8Array(0), start: 0, end: 0 };

export function decideEndRedrive(decision: Decision, command: EndRedrive): EndRedriveReply {
  const { state, emit, events } = decision;
  if (state.redrives.get(command.redrive)?.namespace !== command.namespace) {
    return { found: false };
  }
  events.redriveEnded.redrive = command.redrive;
  emit(events.redriveEnded);
  audit(decision, command.by, { namespace: command.namespace, action: 'redrive_ended' });
  return { found: true };
}

/** Retries up to `most` dead letters that are due; returns how many. */
export function redriveDue(decision: Decision, most: number): number {
  const { state, emit, events, now } = decision;
  let redriven = 0;
  for (const [number, redrive] of [...state.redrives.entries()]) {
    while (redrive.nextAt <= now && redriven < most) {
      const slot = oldestDead(state, redrive);
      if (slot === NO_SLOT || state.tasks.endedAt[slot] > redrive.startedAt) {
        events.redriveEnded.redrive = number;
        emit(events.redriveEnded);
        break;
      }
      retry(decision, slot, number);
      redriven += 1;
    }
  }
  return redriven;
}
