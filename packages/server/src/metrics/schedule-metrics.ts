import {
  FIRE_CAUSES,
  FIRE_REASONS,
  type Outputs,
  type ReadonlyState,
  type Slot,
  scheduleStateOf,
} from '@sluice/core';
import type { Exposition } from './exposition.ts';
import { Histogram, LATENCY_BOUNDS_MS } from './histogram.ts';

const BY_TIME = FIRE_CAUSES.indexOf('time');
const ON_TIME = FIRE_REASONS.indexOf('on_time');

/** Fires of schedules, derived from the outputs of commands. */
export class ScheduleMetrics {
  private readonly fires = new Float64Array(FIRE_CAUSES.length);
  private readonly skips = new Float64Array(FIRE_REASONS.length);
  private readonly lateMs = new Histogram(LATENCY_BOUNDS_MS);
  private delays = 0;

  staged({ fires, delayedFires }: Outputs): void {
    this.delays += delayedFires.length;
    for (const { cause, reason, lateMs } of fires) {
      if (reason !== ON_TIME) this.skips[reason] += 1;
      else this.fires[cause] += 1;
      if (cause === BY_TIME) this.lateMs.observe(lateMs);
    }
  }

  write(out: Exposition, state: ReadonlyState): void {
    out.values(
      'sluice_schedules',
      Object.entries(countsOf(state)).map(([name, count]) => [{ state: name }, count]),
    );
    out.values(
      'sluice_schedule_fires_total',
      FIRE_CAUSES.map((cause, place) => [{ cause }, this.fires[place]]),
    );
    out.values(
      'sluice_schedule_skips_total',
      FIRE_REASONS.flatMap((reason, place) =>
        place === ON_TIME || reason === 'no_room' ? [] : [[{ reason }, this.skips[place]] as const],
      ),
    );
    out.value('sluice_schedule_delays_total', this.delays);
    out.histograms('sluice_schedule_late_seconds', [[{}, this.lateMs]], 0.001);
  }
}

function countsOf(state: ReadonlyState): Record<ReturnType<typeof scheduleStateOf>, number> {
  const counts = { active: 0, paused: 0, completed: 0 };
  const { used, number } = state.schedules.table;
  for (let slot = 0; slot < used; slot++) {
    if (number[slot] !== 0) counts[scheduleStateOf(state, slot as Slot)] += 1;
  }
  return counts;
}
