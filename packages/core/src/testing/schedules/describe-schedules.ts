import type { Slot } from '../../base/ids.ts';
import { inputOf, nameOf, settingsTextOf } from '../../state/schedules/read-schedule.ts';
import type { ReadonlyState } from '../../state/state.ts';
import { type ColumnTable, columnsOf } from '../../structures/columns.ts';
import { testUtf8 } from '../test-utf8.ts';

export interface ScheduleDescription {
  readonly slot: Slot;
  readonly name: string;
  readonly settings: string;
  readonly input: string;
  readonly hasTimer: boolean;
  readonly replicas: readonly unknown[];
  /** Numbers of what ran at a trigger, and runs on. */
  readonly earlier: readonly number[];
  readonly columns: Readonly<Record<string, number>>;
}

/** Columns that are not facts: a place in the arena, and a timer that may be off. */
const NOT_COMPARED = ['definition', 'timerAt'];

export function describeSchedules(state: ReadonlyState): ScheduleDescription[] {
  const { table, timers, replicas, earlier } = state.schedules;
  const descriptions: ScheduleDescription[] = [];
  for (let place = 0; place < table.used; place++) {
    const slot = place as Slot;
    if (table.number[slot] === 0) continue;
    const columns = [...columnsOf(table as unknown as ColumnTable)]
      .filter(([name]) => !NOT_COMPARED.includes(name))
      .map(([name, column]) => [name, column[slot]]);
    const { bytes, start, end } = inputOf(state, slot);
    descriptions.push({
      slot,
      name: nameOf(state, slot, testUtf8),
      settings: settingsTextOf(state, slot, testUtf8),
      input: testUtf8.decode(bytes.subarray(start, end)),
      hasTimer: timers.has(slot),
      replicas: replicas.of(slot).map((replica) => ({ ...replica })),
      earlier: [...earlier.of(slot).keys()],
      columns: Object.fromEntries(columns),
    });
  }
  return descriptions;
}

/** Bytes of their definitions. */
export function scheduleBytes({ schedules }: ReadonlyState): number {
  const { table } = schedules;
  let bytes = 0;
  for (let slot = 0; slot < table.used; slot++) bytes += table.definitionLength[slot];
  return bytes;
}
