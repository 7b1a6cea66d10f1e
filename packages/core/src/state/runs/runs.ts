import { NO_SLOT, type Slot } from '../../base/ids.ts';
import { CHILDREN_SCHEMA } from '../../snapshot/snapshot-archive.ts';
import type { Archive } from '../../structures/archive.ts';
import { Interner, type InternerReader } from '../../structures/interner.ts';
import { persistLists, TaskList } from '../../structures/task-list.ts';
import { TimingWheel } from '../../structures/timing-wheel.ts';
import { RUN_RUNNING, RUN_STOPPING } from '../../workflow/run-state.ts';
import { BranchLists } from './branch-lists.ts';
import { RunLists } from './run-lists.ts';
import { type RunReader, RunTable } from './run-table.ts';
import { type StepReader, StepTable } from './step-table.ts';

/** Steps per task that fit into memory: most steps of a definition have no task yet. */
const STEPS_PER_TASK = 4;

/** Read-only view for code outside `apply`. */
export interface RunsReader {
  readonly table: RunReader;
  readonly steps: StepReader;
  /** Runs that have something to do, first come, first served. */
  readonly line: Readonly<Pick<TaskList, 'head' | 'length'>>;
  /** Ended runs, oldest end first. */
  readonly ended: Readonly<Pick<TaskList, 'head' | 'length'>>;
  /** Steps of ended runs. */
  readonly endedSteps: number;
  /** Tasks that the steps of all runs may still submit. */
  readonly promised: number;
  readonly correlations: InternerReader<string>;
  /** References of the steps that started runs. */
  readonly parentReferences: InternerReader<string>;
  /** Timeouts of runs, and the ends of waits. */
  readonly timers: TimingWheel;
  readonly stepTimers: TimingWheel;
  readonly branches: BranchLists;
  /** Runs of a namespace that have not ended. */
  openIn(namespace: string): number;
}

/**
 * Runs and their steps.
 *
 * runs.in-line: A run is in the line exactly while something is to be decided: a step is due or its
 *   task has ended, a run that stops has steps to stop, or nothing is left and the run must end.
 *   In a paused run only the ends of tasks are taken. A run whose output waits for values in blobs
 *   is not in the line.
 */
export class Runs implements RunsReader {
  readonly table: RunTable;
  readonly steps: StepTable;
  readonly lists: RunLists;
  readonly line: TaskList;
  readonly ended: TaskList;
  readonly correlations = new Interner<string>((text) => text);
  readonly parentReferences = new Interner<string>((text) => text);
  readonly timers: TimingWheel;
  readonly stepTimers: TimingWheel;
  readonly branches = new BranchLists();
  endedSteps = 0;
  promised = 0;
  /** By namespace. It follows from the table, so it is neither saved nor hashed. */
  private readonly open = new Map<string, number>();

  constructor(tasksMax: number) {
    this.table = new RunTable(tasksMax);
    this.steps = new StepTable(tasksMax * STEPS_PER_TASK);
    this.lists = new RunLists(this.table, this.steps);
    this.line = new TaskList(this.table);
    this.ended = new TaskList(this.table);
    const { timerAt, number, capacity } = this.table;
    this.timers = new TimingWheel(capacity, { dueAt: timerAt, order: number });
    this.stepTimers = new TimingWheel(this.steps.capacity, { dueAt: this.steps.until });
  }

  /**
   * Changes the number of tasks that the run may still submit. Ended tasks of a run stay until the
   * run ends, so runs without this room could block each other for ever.
   */
  promise(run: Slot, by: number): void {
    this.table.promised[run] += by;
    this.promised += by;
  }

  openIn(namespace: string): number {
    return this.open.get(namespace) ?? 0;
  }

  /** A run of the namespace has begun, or with -1 ended. */
  countOpen(namespace: string, by: 1 | -1): void {
    const count = this.openIn(namespace) + by;
    if (count === 0) this.open.delete(namespace);
    else this.open.set(namespace, count);
  }

  /** Puts the run into the line or takes it out, as its steps demand (runs.in-line). */
  updateLine(run: Slot): void {
    const needs = this.needsWork(run) ? 1 : 0;
    if (this.table.isInLine[run] === needs) return;
    this.table.isInLine[run] = needs;
    if (needs === 1) this.line.append(run);
    else this.line.remove(run);
  }

  /** No timer of a run or of a step is due before this time. */
  earliest(): number {
    return Math.min(this.timers.earliest(), this.stepTimers.earliest());
  }

  private needsWork(run: Slot): boolean {
    const { state, live, dueHead, runningHead, reportedHead, isEvaluating } = this.table;
    if (reportedHead[run] !== NO_SLOT) return true;
    if (state[run] === RUN_RUNNING) {
      return dueHead[run] !== NO_SLOT || (live[run] === 0 && isEvaluating[run] === 0);
    }
    return state[run] === RUN_STOPPING && (runningHead[run] !== NO_SLOT || live[run] === 0);
  }

  persist(archive: Archive): void {
    archive.section('runTable');
    this.table.persist(archive);
    archive.section('stepTable');
    this.steps.persist(archive);
    archive.section('runLists');
    persistLists(archive, 'ends', [this.line, this.ended]);
    this.endedSteps = archive.number('endedSteps', this.endedSteps);
    this.promised = archive.number('promised', this.promised);
    archive.section('runTimers');
    this.timers.persist(archive, this.table.used);
    archive.section('stepTimers');
    this.stepTimers.persist(archive, this.steps.used);
    archive.section('correlations');
    this.correlations.persist(archive);
    if (archive.schema < CHILDREN_SCHEMA) return;
    archive.section('parentReferences');
    this.parentReferences.persist(archive);
  }
}
