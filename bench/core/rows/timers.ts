import { NO_SLOT, type Slot } from '@sluice/core';
import { TimingWheel } from '../../../packages/core/src/structures/timing-wheel.ts';
import { type Row, secondsOf } from '../../row.ts';

const START = 1_700_000_000_000;
const HOUR_MS = 3_600_000;

/** The timing wheel alone: timers of the next hour, in random order. */
export const row: Row = {
  measure: async ({ share }) => {
    const pending = 10_000_000 * share;
    const edits = pending / 10;
    const capacity = pending + edits;
    const dueAt = new Float64Array(capacity);
    const order = new Float64Array(capacity);
    for (let slot = 0; slot < capacity; slot++) {
      dueAt[slot] = START + Math.floor(Math.random() * HOUR_MS);
      order[slot] = slot;
    }
    const before = process.memoryUsage.rss();
    const wheel = new TimingWheel(capacity, { dueAt, order });
    wheel.firstDue(START);
    for (let slot = 0; slot < pending; slot++) wheel.add(slot as Slot);
    const bytes = (process.memoryUsage.rss() - before) / pending;

    const adding = secondsOf(() => {
      for (let slot = pending; slot < capacity; slot++) wheel.add(slot as Slot);
    });
    const cancelling = secondsOf(() => {
      for (let slot = pending; slot < capacity; slot++) wheel.remove(slot as Slot);
    });
    let fired = 0;
    const firing = secondsOf(() => {
      fired = fireUntil(wheel, START + HOUR_MS / 10);
    });
    const name = pending.toLocaleString('en');
    return [
      { what: `${name} pending: memory`, unit: 'bytes/timer', value: bytes, target: '≤ 200' },
      { what: 'add', unit: 'timers/s', value: edits / adding, target: '≥ 50,000' },
      { what: 'cancel', unit: 'timers/s', value: edits / cancelling, target: '≥ 50,000' },
      { what: 'fire', unit: 'timers/s', value: fired / firing, target: '≥ 50,000' },
    ];
  },
};

/** One millisecond at a time, like the engine's alarm at its best. */
function fireUntil(wheel: TimingWheel, end: number): number {
  let fired = 0;
  for (let now = START; now <= end; now++) {
    for (let slot = wheel.firstDue(now); slot !== NO_SLOT; slot = wheel.firstDue(now)) {
      wheel.remove(slot);
      fired += 1;
    }
  }
  return fired;
}
