import type { Slot } from '../../base/ids.ts';
import { FIRE_REASONS } from '../../schedule/schedule-settings.ts';
import type { ReadonlyState } from '../../state/state.ts';
import { nextTimes, type TimePorts } from './schedule-times.ts';
import { runningOf, scheduleStateOf, timeText, viewSchedule } from './view-schedule.ts';

interface Reason {
  readonly code: string;
  readonly message: string;
}

/** Why a schedule has not fired, or when it will. */
export function explainSchedule(
  state: ReadonlyState,
  slot: Slot,
  ports: TimePorts,
): { state: string; summary: string; reasons: Reason[] } {
  const reasons = [...waitsFor(state, slot, ports), ...lastSkip(state, slot)];
  return { state: scheduleStateOf(state, slot), summary: reasons[0].message, reasons };
}

function waitsFor(state: ReadonlyState, slot: Slot, ports: TimePorts): Reason[] {
  const { table, replicas } = state.schedules;
  const view = viewSchedule(state, slot, ports.utf8);
  if (view.state === 'paused') {
    return [{ code: 'paused', message: `it is paused since ${view.changedAt}` }];
  }
  if (table.replicas[slot] > 0) {
    const live = replicas.liveOf(slot);
    const count = `${live} of ${table.replicas[slot]} replicas run`;
    const startAt = Math.min(
      ...replicas.of(slot).flatMap((r) => (r.made === 0 ? [r.startAt] : [])),
    );
    if (live >= table.replicas[slot]) return [{ code: 'running', message: count }];
    const message = `${count}; the next one starts at ${timeText(startAt)}`;
    return [{ code: 'backoff', message }];
  }
  if (table.isBlocked[slot] === 1) {
    const [last] = runningOf(state, slot);
    const id = last?.taskId ?? last?.runId ?? 'the last one';
    return [{ code: 'previous_running', message: `it waits for the end of ${id}` }];
  }
  if (view.state === 'completed') {
    return [{ code: 'completed', message: 'it has no further time' }];
  }
  return [timeReason(state, slot, ports)];
}

function timeReason(state: ReadonlyState, slot: Slot, ports: TimePorts): Reason {
  const { nextAt, timerAt, reason } = state.schedules.table;
  const isDue = nextAt[slot] <= state.now;
  if (isDue && FIRE_REASONS[reason[slot]] === 'no_room') {
    const again = timeText(timerAt[slot]);
    return { code: 'no_room', message: `memory is full; it tries again at ${again}` };
  }
  const [next] = nextTimes(state, slot, { ...ports, count: 1 });
  const at = timeText(next ?? nextAt[slot]);
  const delay = timerAt[slot] - nextAt[slot];
  const jitter = delay > 0 ? `, with a jitter of ${delay} ms` : '';
  return { code: 'waiting', message: `its next time is ${at}${jitter}` };
}

const SKIPPED: Readonly<Record<string, string>> = {
  misfire: 'it was missed while the server was not there',
  overlap: 'the one before still ran',
  no_room: 'memory was full',
  quota_exceeded: 'the quota of the namespace was used up',
  workflow_not_found: 'its workflow is not registered',
  unfit_input: 'its input does not fit its workflow',
};

function lastSkip(state: ReadonlyState, slot: Slot): Reason[] {
  const { skips, skippedAt, reason } = state.schedules.table;
  if (skips[slot] === 0) return [];
  const code = FIRE_REASONS[reason[slot]];
  const at = timeText(skippedAt[slot]);
  const count = skips[slot] === 1 ? '' : ` (${skips[slot]} times so far)`;
  return [{ code, message: `its time ${at} was skipped: ${SKIPPED[code]}${count}` }];
}
