import { RUNS_SCHEMA, SCHEDULES_SCHEMA } from '../snapshot/snapshot-archive.ts';
import type { StateHasher } from '../snapshot/state-hash.ts';
import type { Archive } from '../structures/archive.ts';
import type { PayloadColumn } from '../structures/arena.ts';
import { uint16s } from '../structures/column-memory.ts';
import { type ColumnTable, columnsOf } from '../structures/columns.ts';
import type { DedupeTable } from './dedupe-table.ts';
import { runPayloads, schedulePayloads, stepPayloads, taskPayloads } from './payload-columns.ts';
import type { Runs } from './runs/runs.ts';
import type { Schedules } from './schedules/schedules.ts';
import type { TaskTable } from './task-table.ts';
import { TouchedSlots } from './touched-slots.ts';

/** The tables whose changes are tracked. */
interface Tables {
  readonly tasks: TaskTable;
  readonly dedupe: DedupeTable;
  readonly runs: Runs;
  readonly schedules: Schedules;
}

/**
 * Tracks what events changed since the last logged hash, so that the next hash covers only that
 * (L3).
 *
 * What is hashed depends only on events. Only `apply` writes columns. Free slots are hashed too:
 * they keep the values of their last task. Two things depend on more than events: places in the
 * arena, which change when it is compacted, and the timing wheel, which changes when it is read.
 * Neither is hashed. Links are hashed: the order in a list is part of the state.
 *
 * Durable, because a snapshot may come between two hashes. The batches are not: they say only what
 * has to wait for them (engine.untouched).
 */
export class StateChanges {
  /** Events since the last hash. */
  events = 0;
  /** The batch that events go to now, as the engine numbers them. */
  batch = 0;
  /** The batch that last touched each task; and each run, or a step of it. */
  readonly batchOfTask: Uint16Array;
  readonly batchOfRun: Uint16Array;
  private readonly runOfStep: Readonly<Record<number, number>>;
  private readonly tasks: TouchedSlots;
  private readonly keys: TouchedSlots;
  private readonly runs: TouchedSlots;
  private readonly steps: TouchedSlots;
  private readonly schedules: TouchedSlots;

  constructor({ tasks, dedupe, runs, schedules }: Tables) {
    this.tasks = touched(tasks, taskPayloads(tasks));
    this.keys = touched(dedupe, []);
    this.runs = touched(runs.table, runPayloads(runs));
    this.steps = touched(runs.steps, stepPayloads(runs));
    this.schedules = touched(schedules.table, schedulePayloads(schedules));
    this.batchOfTask = uint16s(tasks.capacity);
    this.batchOfRun = uint16s(runs.table.capacity);
    this.runOfStep = runs.steps.run;
  }

  noteTask(slot: number): void {
    this.tasks.note(slot);
    this.batchOfTask[slot] = this.batch;
  }

  noteKey(entry: number): void {
    this.keys.note(entry);
  }

  noteRun(slot: number): void {
    this.runs.note(slot);
    this.batchOfRun[slot] = this.batch;
  }

  noteStep(slot: number): void {
    this.steps.note(slot);
    this.batchOfRun[this.runOfStep[slot]] = this.batch;
  }

  noteSteps(first: number, count: number): void {
    for (let slot = first; slot < first + count; slot++) this.steps.note(slot);
  }

  noteSchedule(slot: number): void {
    this.schedules.note(slot);
  }

  /** Hashes the current values of everything that was noted. */
  hash(hasher: StateHasher): void {
    this.tasks.hash(hasher);
    this.keys.hash(hasher);
    this.runs.hash(hasher);
    this.steps.hash(hasher);
    this.schedules.hash(hasher);
  }

  /** Starts the next hash. */
  clear(): void {
    this.events = 0;
    this.tasks.clear();
    this.keys.clear();
    this.runs.clear();
    this.steps.clear();
    this.schedules.clear();
  }

  persist(archive: Archive): void {
    this.events = archive.number('events', this.events);
    this.tasks.persist(archive, 'tasks');
    this.keys.persist(archive, 'keys');
    if (archive.schema < RUNS_SCHEMA) return;
    this.runs.persist(archive, 'runs');
    this.steps.persist(archive, 'steps');
    if (archive.schema < SCHEDULES_SCHEMA) return;
    this.schedules.persist(archive, 'schedules');
  }
}

/** Places of payloads are not hashed. */
function touched(table: ColumnTable, payloads: readonly PayloadColumn[]): TouchedSlots {
  const references: readonly unknown[] = payloads.map((each) => each.references);
  const columns = [...columnsOf(table).values()].filter((column) => !references.includes(column));
  return new TouchedSlots(table.capacity, columns);
}
