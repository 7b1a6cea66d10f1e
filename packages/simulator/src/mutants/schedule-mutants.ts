import type { Mutant } from './mutant.ts';

const FIRES = 'core/src/commands/schedules/fire-schedules.ts';
const CHANGES = 'core/src/commands/schedules/change-schedules.ts';
const APPLY = 'core/src/apply/apply-schedules.ts';
const SCHEDULES = 'core/src/state/schedules/schedules.ts';

const PLANTED: readonly Mutant[] = [
  {
    name: 'schedule-fires-early',
    file: FIRES,
    find: '    const slot = state.schedules.timers.firstDue(now);',
    replace: '    const slot = state.schedules.timers.firstDue(now + 1);',
    what: 'A time fires when it has come: here one millisecond before.',
  },
  {
    name: 'schedule-fires-again-after-a-restart',
    file: SCHEDULES,
    find: '      this.addToIndex(slot);\n      if (table.isBlocked',
    replace:
      '      this.addToIndex(slot);\n' +
      '      if (table.lastAt[slot] !== 0) table.nextAt[slot] = table.lastAt[slot];\n' +
      '      if (table.isBlocked',
    what: 'A snapshot has the next time of a schedule: here the last time fires again.',
  },
  {
    name: 'deleted-schedule-keeps-its-timer',
    file: CHANGES,
    find: '  emit(events.scheduleRemoved);\n',
    replace: '',
    what: 'A schedule that was deleted does not fire: here the delete is answered and not made.',
  },
  {
    name: 'old-time-fires-after-a-change',
    file: CHANGES,
    find: 'const isKept = isSameSpec && isSameRest && wasPaused === put.paused;',
    replace: 'const isKept = found !== NO_SLOT && table.nextAt[slot] !== 0;',
    what: 'A change counts from its answer on: here the next time of the old version fires.',
  },
  {
    name: 'one-replica-too-many',
    file: CHANGES,
    find: 'event.replicas = replicasOf(settings);',
    replace: 'event.replicas = replicasOf(settings) && replicasOf(settings) + 1;',
    what: 'Only as many replicas run as were asked for: here one more.',
  },
  {
    name: 'superfluous-replicas-run-on',
    file: CHANGES,
    find: '  stopReplicas(decision, slot, hasOtherWork || put.paused ? 0 : event.replicas);\n',
    replace: '',
    what: 'A schedule that is scaled down stops replicas: here they go on.',
  },
  {
    name: 'overlap-skip-is-ignored',
    file: FIRES,
    find: "if (overlap === 'skip' && before.length > 0) {",
    replace: "if (overlap === 'skip' && before.length > 1) {",
    what: 'With overlap skip nothing fires beside the last one: here both run.',
  },
  {
    name: 'missed-once-fires-twice',
    file: FIRES,
    find: "if (policy === 'once') return fireAt(decision, slot, due);",
    replace: "if (policy === 'once') return fireAt(decision, slot, { ...due, after: time });",
    what: 'Missed times lead to one fire: here another one follows.',
  },
  {
    name: 'pause-is-not-saved',
    file: SCHEDULES,
    find: '      this.addToIndex(slot);\n      if (table.isBlocked',
    replace:
      '      this.addToIndex(slot);\n' +
      '      table.paused[slot] = 0;\n' +
      '      if (table.isBlocked',
    what: 'A paused schedule stays paused: here it fires after a restart.',
  },
  {
    name: 'end-does-not-release-a-queue',
    file: 'core/src/apply/schedule-places.ts',
    find: '    table.isBlocked[slot] = 0;',
    replace: '    table.isBlocked[slot] = table.wait[slot] === 1 ? 1 : 0;',
    what: 'The end of the last one lets the next time fire: here the queue waits for ever.',
  },
  {
    name: 'trigger-lets-the-one-before-go',
    file: APPLY,
    find: '    schedules.earlier.add(slot, previous);\n    schedules.watch(previous.made, slot);\n',
    replace: '',
    what: 'What runs at a trigger counts for overlap: here the next time runs beside it.',
  },
  {
    name: 'backfill-loses-a-time',
    file: 'core/src/commands/schedules/backfill-schedules.ts',
    find: 'const nextAt = following > backfill.until ? NO_TIME : following;',
    replace: 'const nextAt = following >= backfill.until - 1000 ? NO_TIME : following;',
    what: 'A backfill fires for all times of its range: here the last one is left out.',
  },
  {
    name: 'forward-step-fires-every-time',
    file: FIRES,
    find: '  return now - Math.max(jittered, releasedAt[slot]) > MISFIRE_AFTER_MS;',
    replace: '  return now - Math.max(jittered, releasedAt[slot]) > 10 * MISFIRE_AFTER_MS;',
    what: 'After ten seconds a time is missed: here the policy counts only much later.',
  },
];

/** Bugs in schedules. They are looked for in worlds with schedules. */
export const SCHEDULE_MUTANTS: readonly Mutant[] = PLANTED.map((each) => {
  return { ...each, inSchedules: true };
});
