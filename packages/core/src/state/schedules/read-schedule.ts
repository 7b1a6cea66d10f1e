import type { Slot } from '../../base/ids.ts';
import type { Utf8 } from '../../base/utf8.ts';
import type { ScheduleSettings } from '../../schedule/schedule-settings.ts';
import type { Arena } from '../../structures/arena.ts';
import type { PayloadRange } from '../../structures/payload-range.ts';
import type { SchedulesReader } from './schedules.ts';

interface Place {
  readonly schedules: SchedulesReader;
  readonly payloads: Pick<Arena, 'bytesOf' | 'startOf'>;
}

export function nameOf(state: Place, slot: Slot, utf8: Utf8): string {
  const { bytes, start } = definitionOf(state, slot);
  return utf8.decode(bytes.subarray(start, start + state.schedules.table.nameBytes[slot]));
}

export function settingsOf(state: Place, slot: Slot, utf8: Utf8): ScheduleSettings {
  return JSON.parse(settingsTextOf(state, slot, utf8));
}

export function settingsTextOf(state: Place, slot: Slot, utf8: Utf8): string {
  const { bytes, start } = definitionOf(state, slot);
  const { nameBytes, settingsBytes } = state.schedules.table;
  const from = start + nameBytes[slot];
  return utf8.decode(bytes.subarray(from, from + settingsBytes[slot]));
}

/** The input of what it makes; empty for null. Valid until the next compaction of the arena. */
export function inputOf(state: Place, slot: Slot): PayloadRange {
  const { bytes, start, end } = definitionOf(state, slot);
  const { nameBytes, settingsBytes } = state.schedules.table;
  return { bytes, start: start + nameBytes[slot] + settingsBytes[slot], end };
}

function definitionOf({ schedules, payloads }: Place, slot: Slot): PayloadRange {
  const { definition, definitionLength } = schedules.table;
  const start = payloads.startOf(definition[slot]);
  const bytes = payloads.bytesOf(definition[slot]);
  return { bytes, start, end: start + definitionLength[slot] };
}
