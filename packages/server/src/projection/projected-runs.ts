import {
  type Event,
  type EventOf,
  type PayloadRange,
  queueKey,
  STEP_KINDS,
  STEP_STATES,
  taskTypeOf,
} from '@sluice/core';
import { UTF8 } from '../base/utf8.ts';
import type { PublishedEvent } from './change-ring.ts';
import { ProjectedPrograms } from './projected-programs.ts';
import type { StepOfRun } from './records/task-record.ts';
import { UsualTask } from './records/usual-task.ts';
import type { StoredRecords } from './rows/stored-records.ts';
import {
  advanceRun,
  beginRun,
  isRun,
  namespaceOfRun,
  noteChild,
  noteStepTask,
  type ProjectedProgram,
  type RunChange,
  type RunRecord,
  readmitRun,
  reviveRun,
} from './runs/run-record.ts';
import { openBranches, openFrame, resetSteps, stepAt } from './runs/step-records.ts';
import { type Since, UnsavedTask } from './unsaved/unsaved-task.ts';
import type { UnsavedTasks } from './unsaved/unsaved-tasks.ts';

/** The records of the projector, and where it is in the log. */
export interface RecordDesk {
  readonly unsaved: Pick<UnsavedTasks, 'get'>;
  readonly stored: StoredRecords;
  isNew(number: number): boolean;
  add(record: UnsavedTask): UnsavedTask;
  since(at: number): Since;
}

const OF_RUNS = [
  'workflow_registered',
  'workflow_removed',
  'step_submitted',
  'run_started',
  'child_started',
  'step_started',
  'frame_opened',
  'branches_opened',
  'steps_reset',
  'run_revived',
  'run_readmitted',
  'step_ended',
  'step_stopping',
  'run_changed',
  'run_stopping',
  'run_ended',
  'run_forgotten',
  'values_asked',
  'run_delivery_owed',
  'step_skip_planned',
  'step_key_kept',
  'run_overdue',
] as const;

type EventOfRuns = Extract<Event, { type: (typeof OF_RUNS)[number] }>;

const NAMES: ReadonlySet<string> = new Set(OF_RUNS);

export function isOfRuns(event: Event): event is EventOfRuns {
  return NAMES.has(event.type);
}

/** The part of the projector for runs. Their records follow the rules of the projector. */
export class ProjectedRuns {
  readonly programs: ProjectedPrograms;
  private readonly desk: RecordDesk;
  private published: PublishedEvent | undefined;

  constructor(desk: RecordDesk, programs: readonly ProjectedProgram[]) {
    this.desk = desk;
    this.programs = new ProjectedPrograms(programs);
  }

  /** Returns the task of a step that was submitted. */
  apply(event: EventOfRuns, at: number): UnsavedTask | undefined {
    switch (event.type) {
      case 'workflow_registered':
        this.programs.register(event, this.desk.since(at).since);
        return undefined;
      case 'step_submitted':
        return this.submitStep(event, at);
      case 'run_started':
        this.start(event, at);
        return undefined;
      case 'child_started': {
        const parent = event.step === 0 ? undefined : this.open(event.parent, at);
        if (parent?.isBehind) noteChild(parent.record, event, at);
        this.start(event, at);
        return undefined;
      }
      case 'frame_opened': {
        const run = this.open(event.task, at);
        if (run?.isBehind) openFrame(run.record, event, this.programs.at(run.record.program));
        return undefined;
      }
      case 'branches_opened': {
        const run = this.open(event.task, at);
        if (run?.isBehind) openBranches(run.record, event, at);
        return undefined;
      }
      case 'steps_reset':
      case 'run_revived': {
        const run = this.open(event.task, at);
        if (!run?.isBehind) return undefined;
        if (event.type === 'steps_reset') resetSteps(run.record, event);
        else reviveRun(run.record, event, at);
        return undefined;
      }
      case 'run_readmitted':
        this.readmit(event, at);
        return undefined;
      case 'run_overdue': {
        const run = this.open(event.task, at);
        if (run !== undefined) this.published = overdue(run.record);
        return undefined;
      }
      case 'workflow_removed':
      case 'run_forgotten':
      case 'values_asked':
      case 'step_key_kept':
      case 'run_delivery_owed':
        // Runs keep showing their definition, rows outlive memory, and nothing else shows.
        return undefined;
      default:
        this.change(event, at);
        return undefined;
    }
  }

  private start(event: EventOf<'run_started'> | EventOf<'child_started'>, at: number): void {
    if (this.hasRow(event.task)) return;
    const record = beginRun(event, this.programs.at(event.program), at);
    this.desk.add(UnsavedTask.of(record, this.desk.since(at)));
  }

  /** Its row may be lost. */
  private readmit(event: EventOf<'run_readmitted'>, at: number): void {
    const program = this.programs.at(event.program);
    const run = this.open(event.task, at);
    if (run?.isBehind) readmitRun(run.record, { event, program, at });
    else if (run === undefined) {
      const record = beginRun(event, program, at);
      this.desk.add(UnsavedTask.of(record, this.desk.since(at)));
    }
  }

  private change(event: RunChange, at: number): void {
    const run = this.open(event.task, at);
    // An EVENT that was started was published then. Its end is a call.
    const hadStarted = run !== undefined && isRunning(run.record, event.slot);
    if (run?.isBehind) advanceRun(run.record, event, at);
    if (run === undefined || hadStarted) return;
    const { type } = event;
    if (type === 'step_ended') this.published = publishedBy(event, event.output, run.record);
    if (type === 'step_started') this.published = publishedBy(event, event.input, run.record);
  }

  /** The event that the last step published, if it did; once. */
  takePublished(): PublishedEvent | undefined {
    const { published } = this;
    this.published = undefined;
    return published;
  }

  /**
   * A step's task is a task like any other, and its run knows of it. It never counts as a dead
   * letter: its run deals with its failure.
   */
  private submitStep(event: EventOf<'step_submitted'>, at: number): UnsavedTask | undefined {
    const run = this.open(event.run, at);
    if (run?.isBehind) noteStepTask(run.record, event, at);
    if (this.hasRow(event.task)) return undefined;
    // The row of the run may be lost.
    const startedAt = run?.record.submittedAt;
    const step: StepOfRun | undefined =
      startedAt === undefined ? undefined : [event.run, startedAt, event.reference];
    const task = UsualTask.ofStep(event, at, step);
    return this.desk.add(UnsavedTask.of(task, this.desk.since(at)));
  }

  /** Whether a row has seen the first event of this task or run. */
  private hasRow(number: number): boolean {
    return !this.desk.isNew(number) && this.desk.stored.take(number) !== undefined;
  }

  /** A run and whether it has not seen this batch; undefined when its row was removed or lost. */
  private open(number: number, at: number): OpenRun | undefined {
    const since = this.desk.since(at);
    const unsaved = this.desk.unsaved.get(number);
    if (unsaved?.run !== undefined) {
      unsaved.position = since.position;
      return { record: unsaved.run, isBehind: true };
    }
    const stored = this.desk.stored.take(number);
    if (stored === undefined || !isRun(stored.record)) return undefined;
    const { record, position } = stored;
    const isBehind = position <= since.since;
    if (isBehind) this.desk.add(UnsavedTask.of(record, since));
    return { record, isBehind };
  }
}

/** An overdue run is published as an event, like an event step. */
function overdue(run: RunRecord): PublishedEvent {
  const queue = queueKey(namespaceOfRun(run), taskTypeOf(run.queue));
  const about = { run: run.number, startedAt: run.submittedAt, queue };
  return { ...about, reference: '', name: 'run.overdue', payload: '{}' };
}

const EVENT = STEP_KINDS.indexOf('EVENT');

function isRunning(run: RunRecord, slot: number): boolean {
  return stepAt(run, slot)?.state === STEP_STATES.indexOf('running');
}

/** A step that called a receiver published nothing. */
function publishedBy(
  { kind, reference }: EventOf<'step_ended' | 'step_started'>,
  { bytes, start, end }: PayloadRange,
  run: RunRecord,
): PublishedEvent | undefined {
  if (kind !== EVENT || start === end) return undefined;
  const payload = UTF8.decode(bytes.subarray(start, end));
  const { event_produced: name } = (JSON.parse(payload) ?? {}) as { event_produced?: unknown };
  if (typeof name !== 'string') return undefined;
  const queue = queueKey(namespaceOfRun(run), taskTypeOf(run.queue));
  return { run: run.number, startedAt: run.submittedAt, queue, reference, name, payload };
}

interface OpenRun {
  readonly record: RunRecord;
  readonly isBehind: boolean;
}
