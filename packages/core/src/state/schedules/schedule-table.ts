import { NO_SLOT, type Slot, type TaskNumber } from '../../base/ids.ts';
import { LimitError } from '../../base/limit-error.ts';
import type { Archive } from '../../structures/archive.ts';
import { float64s, uint8s, uint32s } from '../../structures/column-memory.ts';
import {
  type Column,
  ColumnTable,
  columnsOf,
  type ReadonlyColumns,
} from '../../structures/columns.ts';

/** Read-only view for code outside `apply`. */
export type ScheduleReader = ReadonlyColumns<ScheduleTable> &
  Readonly<Pick<ScheduleTable, 'capacity' | 'count' | 'used' | 'nextFree'>>;

/** Schedules in columns, as tasks are (docs/decisions/0002). */
export class ScheduleTable extends ColumnTable {
  /** From the same sequence as the numbers of tasks; 0 while the slot is free. */
  readonly number = float64s(this.capacity);
  /** Place of its namespace. */
  readonly namespace = uint32s(this.capacity);
  readonly createdAt = float64s(this.capacity);
  readonly changedAt = float64s(this.capacity);
  /** Counts its changes. */
  readonly revision = uint32s(this.capacity);
  /** Name, settings and input, one behind the other. */
  readonly definition = float64s(this.capacity);
  readonly definitionLength = uint32s(this.capacity);
  readonly nameBytes = uint32s(this.capacity);
  readonly settingsBytes = uint32s(this.capacity);
  readonly hasPlaceholders = uint8s(this.capacity);
  readonly paused = uint8s(this.capacity);
  /** The next time; 0 for none. */
  readonly nextAt = float64s(this.capacity);
  /** When its timer is due; meaningful while it has one. */
  readonly timerAt = float64s(this.capacity);
  /** The first time of a fixed rate. */
  readonly anchor = float64s(this.capacity);
  /** What it waits for after a fire: `WAITS_FOR_TIME` and others. */
  readonly wait = uint8s(this.capacity);
  /** From the end of the last one to the next time, for a fixed delay. */
  readonly delayMs = float64s(this.capacity);
  /** Number of replicas that it keeps running. */
  readonly replicas = uint32s(this.capacity);
  /** Fires that made something. */
  readonly fires = uint32s(this.capacity);
  /** Time of the last fire by the clock: the time it stood for, and when it happened. */
  readonly lastAt = float64s(this.capacity);
  readonly lastFiredAt = float64s(this.capacity);
  /** Number of what the last fire made, and when; 0 when it made nothing. */
  readonly made = float64s(this.capacity);
  readonly madeAt = float64s(this.capacity);
  readonly madeRun = uint8s(this.capacity);
  /** Why that time made nothing, as an index of `FIRE_REASONS`. */
  readonly reason = uint8s(this.capacity);
  /** Times that made nothing, and the last of them. */
  readonly skips = uint32s(this.capacity);
  readonly skippedAt = float64s(this.capacity);
  /** 1 while the end of what it made comes before its next time. */
  readonly isBlocked = uint8s(this.capacity);
  /** When that end came. Times before it are not late. */
  readonly releasedAt = float64s(this.capacity);
  /** Missed times in a row that were run later. */
  readonly missed = uint32s(this.capacity);
  count = 0;

  /** Head of the list of freed slots, linked by `revision`. */
  private freed: Slot = NO_SLOT;
  private fresh = 0;
  /** Columns that a new schedule finds empty; listed once, because listing takes long. */
  private cleared: readonly Column[] | undefined;

  /** Slots from here on were never in use. */
  get used(): number {
    return this.fresh;
  }

  /** The slot that the next `allocate` will take; `NO_SLOT` when the table is full. */
  nextFree(): Slot {
    if (this.freed !== NO_SLOT) return this.freed;
    return this.fresh < this.capacity ? (this.fresh as Slot) : NO_SLOT;
  }

  allocate(number: TaskNumber): Slot {
    const slot = this.nextFree();
    if (slot === NO_SLOT) throw new LimitError('tasksMax', this.capacity);
    if (slot === this.freed) this.freed = (this.revision[slot] - 1) as Slot;
    else this.fresh += 1;
    this.cleared ??= [...columnsOf(this).values()].filter((each) => each !== this.definitionLength);
    for (const column of this.cleared) column[slot] = 0;
    this.number[slot] = number;
    this.count += 1;
    return slot;
  }

  free(slot: Slot): void {
    this.number[slot] = 0;
    this.revision[slot] = this.freed + 1;
    this.freed = slot;
    this.count -= 1;
  }

  persist(archive: Archive): void {
    this.count = archive.number('count', this.count);
    this.freed = archive.number('freed', this.freed) as Slot;
    this.fresh = archive.number('fresh', this.fresh);
    if (this.fresh > this.capacity) throw new LimitError('tasksMax', this.capacity);
    for (const [name, column] of columnsOf(this)) {
      if (column !== this.definition) archive.column(name, column, this.fresh);
    }
  }
}
