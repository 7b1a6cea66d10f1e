import type { ReadonlyState, Slot } from '@sluice/core';
import type { ScheduleStory } from './schedule-story.ts';

/** Where memory differs from what the log tells about schedules. */
export function schedulesInMemory(
  { schedules }: ReadonlyState,
  told: readonly ScheduleStory[],
): string[] {
  const { table, replicas, backfills, timers } = schedules;
  const problems: string[] = [];
  if (table.count !== told.length) {
    problems.push(`${table.count} schedules are in memory, and ${told.length} in the log`);
  }
  for (const each of told) {
    const slot = each.slot as Slot;
    const live = replicas.of(slot).filter(({ made }) => made !== 0);
    const comparisons: readonly (readonly [string, unknown, unknown])[] = [
      ['number', table.number[slot], each.number],
      ['revision', table.revision[slot], each.revision],
      ['paused', table.paused[slot] === 1, each.paused],
      ['next time', table.nextAt[slot], each.nextAt],
      ['wait', table.isBlocked[slot] === 1, each.isBlocked],
      ['timer', timers.has(slot), Number.isFinite(each.dueAt)],
      ['fires', table.fires[slot], each.fires],
      ['missed', table.missed[slot], each.missed],
      [
        'replicas',
        live.map(({ made }) => made).join(),
        each.replicas.live.map(({ made }) => made).join(),
      ],
      ['backfill', backfills.get(backfills.of(slot))?.nextTime, each.backfill?.nextTime],
    ];
    for (const [what, memory, log] of comparisons) {
      if (memory === log) continue;
      problems.push(`${each.name} has ${what} ${memory} in memory and ${log} in the log`);
    }
  }
  return problems;
}
