import {
  FAILED,
  type Outputs,
  PRIORITY_LEVELS,
  type ReadonlyState,
  TASK_STATES,
} from '@sluice/core';
import type { Note } from '../base/note-file.ts';
import { Histogram, LATENCY_BOUNDS_MS } from '../metrics/histogram.ts';
import { queueDepths } from '../metrics/queue-depths.ts';
import { quantile, type StatsPoint, StatsRing } from './stats-ring.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Windows by their names: a point per second, per minute and per hour. */
const WINDOWS = {
  '10m': { stepMs: SECOND_MS, size: 600 },
  '24h': { stepMs: MINUTE_MS, size: 1440 },
  '30d': { stepMs: HOUR_MS, size: 720 },
} as const;

export type StatsWindow = keyof typeof WINDOWS;

type StoredPoints = Partial<Readonly<Record<StatsWindow, readonly StatsPoint[]>>>;

const BAD_ENDS = [FAILED, TASK_STATES.indexOf('timed_out'), TASK_STATES.indexOf('expired')];

/**
 * Statistics over time, for charts: the last ten minutes by second, the last day by minute, and the
 * last month by hour. They are stored beside the log. A crash loses what was counted
 * since the last save, and nothing depends on it.
 */
export class Stats {
  private readonly note: Note;
  private readonly rings: Readonly<Record<StatsWindow, StatsRing>>;
  private readonly latency = new Histogram(LATENCY_BOUNDS_MS);
  private ended = 0;
  private failed = 0;
  /** Number of the next task at the last sample. */
  private nextTask = 0;

  private constructor(note: Note, stored: StoredPoints) {
    this.note = note;
    const ring = (name: StatsWindow): StatsRing => {
      const { stepMs, size } = WINDOWS[name];
      return new StatsRing(stepMs, size, stored[name]);
    };
    this.rings = { '10m': ring('10m'), '24h': ring('24h'), '30d': ring('30d') };
  }

  /** Continues with the note. A missing or damaged one counts as empty. */
  static async open(note: Note): Promise<Stats> {
    const text = await note.read().catch(() => undefined);
    return new Stats(note, parsed(text ?? '{}'));
  }

  /** Tasks are counted from here on; existing tasks are not. */
  begin(nextTask: number): void {
    this.nextTask = nextTask;
  }

  /** Runs take numbers of the same sequence, and are not counted as tasks. */
  runsStarted(runs: number): void {
    this.nextTask += runs;
  }

  readonly staged = ({ endedSlots }: Outputs, { tasks }: ReadonlyState): void => {
    this.ended += endedSlots.length;
    for (const slot of endedSlots) {
      if (BAD_ENDS.includes(tasks.state[slot])) this.failed += 1;
      this.latency.observe(tasks.endedAt[slot] - tasks.submittedAt[slot]);
    }
  };

  /** Records what happened since the last sample, once a second. The state is durable. */
  sample(state: ReadonlyState, at: number): void {
    const point: StatsPoint = {
      at,
      submitted: state.nextTask - this.nextTask,
      ended: this.ended,
      failed: this.failed,
      running: heldOf(state),
      depth: queueDepths(state),
      latency: Array.from(this.latency.counts),
    };
    this.nextTask = state.nextTask;
    this.ended = 0;
    this.failed = 0;
    this.latency.counts.fill(0);
    for (const ring of Object.values(this.rings)) ring.add(point);
  }

  view(window: StatsWindow, now: number) {
    const ring = this.rings[window];
    return { window, stepMs: ring.stepMs, items: ring.since(now).map(shownPoint) };
  }

  /** The content of the note. */
  get text(): string {
    return JSON.stringify(this.rings);
  }

  async save(): Promise<void> {
    await this.note.write(this.text);
  }
}

function heldOf({ holders }: ReadonlyState): number {
  let held = 0;
  for (const holder of holders.holding()) held += holder.held.length;
  return held;
}

function shownPoint({ at, submitted, ended, failed, running, depth, latency }: StatsPoint) {
  return {
    at: new Date(at).toISOString(),
    in: submitted,
    out: ended,
    failed,
    running,
    depth,
    latencyMs: { p50: quantile(latency, 0.5), p99: quantile(latency, 0.99) },
  };
}

function parsed(text: string): StoredPoints {
  try {
    const stored = JSON.parse(text) as StoredPoints;
    const isWhole = Object.values(stored).flat().every(isPoint);
    return isWhole ? stored : {};
  } catch {
    return {};
  }
}

/** Another version may have used other buckets. */
function isPoint({ at, depth, latency }: StatsPoint): boolean {
  const buckets = LATENCY_BOUNDS_MS.length + 1;
  return at > 0 && depth.length === PRIORITY_LEVELS && latency.length === buckets;
}
