import type { Slot } from '../base/ids.ts';
import { invariant } from '../base/invariant.ts';
import type { EventOf } from '../events/events.ts';
import type { SCHEDULE_EVENTS } from '../events/schedule-events.ts';
import { SCHEDULE_PAYLOAD } from '../state/payload-columns.ts';
import { isLive, lastMade } from '../state/schedules/live-works.ts';
import { waitsForEnd } from '../state/schedules/schedules.ts';
import type { State } from '../state/state.ts';
import type { Appliers } from './applier.ts';
import { takeEarlier } from './schedule-places.ts';

const TIME_CAUSE = 0;
const TRIGGER_CAUSE = 1;

/** The part of `apply` for schedules. */
export const SCHEDULE_APPLIERS: Appliers<typeof SCHEDULE_EVENTS> = {
  schedule_put: applyPut,
  schedule_changed: (state, at, event) => {
    const { schedules } = state;
    const slot = check(state, event);
    const { table } = schedules;
    table.changedAt[slot] = at;
    table.revision[slot] = event.revision;
    table.paused[slot] = event.paused ? 1 : 0;
    table.nextAt[slot] = event.nextAt;
    table.timerAt[slot] = event.timerAt;
    table.missed[slot] = 0;
    if (table.replicas[slot] > 0) schedules.replicas.release(slot, at);
    schedules.retime(slot);
  },
  schedule_removed: applyRemoved,
  schedule_fired: applyFired,
  schedule_delayed: (state, _at, event) => {
    const { schedules } = state;
    const slot = check(state, event);
    schedules.table.reason[slot] = event.reason;
    if (event.backfill !== 0) return schedules.backfills.delay(event.backfill, event.timerAt);
    schedules.table.timerAt[slot] = event.timerAt;
    schedules.replicas.delay(slot, event.timerAt);
    schedules.retime(slot);
  },
  backfill_started: (state, at, event) => {
    const schedule = check(state, event);
    state.schedules.backfills.start(event.backfill, {
      schedule,
      nextTime: event.nextTime,
      until: event.until,
      ratePerSec: event.ratePer1000Sec / 1000,
      nextAt: at,
      done: 0,
    });
  },
  backfill_ended: (state, _at, event) => state.schedules.backfills.end(event.backfill),
  times_missed: (state, _at, event) => {
    state.schedules.table.skips[check(state, event)] += event.count;
  },
};

function applyPut(state: State, at: number, event: EventOf<'schedule_put'>): void {
  const { schedules, namespaces, changes } = state;
  const { table } = schedules;
  const { slot } = event;
  const isNew = table.number[slot] !== event.task;
  if (isNew) {
    invariant(table.allocate(event.task) === slot, 'a schedule is stored where its event says');
    const namespace = namespaces.intern(event.namespace);
    namespace.schedules += 1;
    table.namespace[slot] = namespace.index;
    table.createdAt[slot] = at;
    state.nextTask = (event.task + 1) as typeof state.nextTask;
  }
  changes.noteSchedule(slot);
  const use = namespaces.at(table.namespace[slot]);
  use.payloadBytes -= table.definitionLength[slot];
  state.payloads.store(SCHEDULE_PAYLOAD, slot, event.definition);
  use.payloadBytes += table.definitionLength[slot];
  table.nameBytes[slot] = event.nameBytes;
  table.settingsBytes[slot] = event.settingsBytes;
  if (isNew) schedules.addToIndex(slot);
  table.changedAt[slot] = at;
  table.revision[slot] = event.revision;
  table.nextAt[slot] = event.nextAt;
  table.timerAt[slot] = event.timerAt;
  table.anchor[slot] = event.anchor;
  table.delayMs[slot] = event.delayMs;
  table.wait[slot] = event.wait;
  if (table.paused[slot] === 1 && !event.paused) schedules.replicas.release(slot, at);
  table.paused[slot] = event.paused ? 1 : 0;
  table.hasPlaceholders[slot] = event.hasPlaceholders ? 1 : 0;
  block(state, slot, event.isBlocked);
  table.replicas[slot] = event.replicas;
  schedules.replicas.resize(slot, event.replicas, at);
  schedules.retime(slot);
}

function applyFired(state: State, at: number, event: EventOf<'schedule_fired'>): void {
  const { schedules } = state;
  const { table, replicas, backfills } = schedules;
  const slot = check(state, event);
  const { made, isRun } = event;
  if (made !== 0) table.fires[slot] += 1;
  if (event.replica !== 0) {
    replicas.start(slot, event.replica - 1, { made, madeAt: at, isRun });
    schedules.watch(made, slot);
  } else if (event.backfill !== 0) {
    backfills.step(event.backfill, { at, nextTime: event.nextAt });
  } else {
    if (event.cause === TIME_CAUSE) {
      table.lastAt[slot] = event.scheduledAt;
      table.lastFiredAt[slot] = at;
      table.nextAt[slot] = event.nextAt;
      table.timerAt[slot] = event.timerAt;
      table.missed[slot] = event.missed;
    }
    if (event.reason !== 0) {
      table.reason[slot] = event.reason;
      table.skips[slot] += 1;
      table.skippedAt[slot] = event.scheduledAt;
    }
    if (made !== 0) remember(state, slot, { at, event });
  }
  schedules.retime(slot);
}

/** What a fire made is what the next one may have to wait for. */
function remember(
  state: State,
  slot: Slot,
  { at, event }: { at: number; event: EventOf<'schedule_fired'> },
): void {
  const { schedules } = state;
  const { table } = schedules;
  const previous = lastMade(schedules, slot);
  block(state, slot, false);
  if (event.cause !== TRIGGER_CAUSE) forgetEarlier(state, slot);
  else if (isLive(state, previous)) {
    schedules.earlier.add(slot, previous);
    schedules.watch(previous.made, slot);
  }
  table.made[slot] = event.made;
  table.madeAt[slot] = at;
  table.madeRun[slot] = event.isRun ? 1 : 0;
  table.delayMs[slot] = event.delayMs;
  block(state, slot, waitsForEnd(table.wait[slot]));
}

/** Starts or stops to wait for the end of what was made last. */
function block(state: State, slot: Slot, isBlocked: boolean): void {
  const { schedules } = state;
  const { table } = schedules;
  if (table.isBlocked[slot] === 1) schedules.unwatch(table.made[slot]);
  table.isBlocked[slot] = isBlocked ? 1 : 0;
  if (!isBlocked) return;
  // A schedule that did not wait for ends may have earlier works only.
  if (!isLive(state, lastMade(schedules, slot))) takeEarlier(state, slot);
  schedules.watch(table.made[slot], slot);
}

function forgetEarlier({ schedules }: State, slot: Slot): void {
  for (const made of schedules.earlier.of(slot).keys()) schedules.unwatch(made);
  schedules.earlier.clear(slot);
}

function applyRemoved(state: State, _at: number, event: EventOf<'schedule_removed'>): void {
  const { schedules, namespaces, payloads } = state;
  const { table, replicas, backfills, timers } = schedules;
  const slot = check(state, event);
  block(state, slot, false);
  forgetEarlier(state, slot);
  for (const { made } of replicas.of(slot)) schedules.unwatch(made);
  replicas.remove(slot);
  const backfill = backfills.of(slot);
  if (backfill !== 0) backfills.end(backfill);
  if (timers.has(slot)) timers.remove(slot);
  schedules.removeFromIndex(slot);
  const use = namespaces.at(table.namespace[slot]);
  use.payloadBytes -= table.definitionLength[slot];
  use.schedules -= 1;
  payloads.releaseAll(slot, [SCHEDULE_PAYLOAD]);
  table.free(slot);
  namespaces.forgetIfUnused(use);
}

function check(state: State, { slot, task }: { slot: Slot; task: number }): Slot {
  const { number } = state.schedules.table;
  invariant(number[slot] === task, 'an event finds its schedule in its slot');
  state.changes.noteSchedule(slot);
  return slot;
}
