import { type Command, type Event, EventDecoder, readEvents } from '@sluice/core';
import type { LogBatch, LogHold, StoredBatch } from '@sluice/log';
import { UTF8 } from '../../base/utf8.ts';
import type { Simulation } from '../../kernel/simulation.ts';
import type { WatchedPartition } from '../../server/watched-partition.ts';
import type { Checker } from './checker.ts';
import { keepCommand } from './keep-command.ts';
import type { StoryRule, ToldCommand } from './story-rule.ts';
import {
  advance,
  beginStory,
  isFirst,
  isHeld,
  PATCHED,
  readmit,
  type TaskStory,
} from './task-story.ts';

type Carried = Omit<ToldCommand, 'at'>;

/** An executed command. Its record, if it has one, may not be durable yet. */
interface Pending extends Carried {
  /** Length of the log in records once this command is durable. */
  readonly records: number;
  readonly hasRecord: boolean;
}

/**
 * Retells the log: every command in order, with the events that became durable.
 *
 * A command that never became durable is not told, even if its effect was visible. A command may
 * also become durable while the server dies, before any answer. It is told when the next server
 * reads it.
 */
export class LogStory implements Checker {
  readonly name = 'story';
  readonly simulation: Simulation;
  readonly rules: StoryRule[] = [];
  /** By number, including tasks that left memory. */
  readonly tasks = new Map<number, TaskStory>();
  /** By the text of the id. */
  readonly byId = new Map<string, TaskStory>();
  /** Queued tasks, by queue key, then by priority and shape. */
  readonly lanes = new Map<string, Map<string, Set<TaskStory>>>();
  /** The tasks that each session holds according to the log. */
  readonly held = new Map<string, Set<TaskStory>>();
  /** Keys of paused queues. */
  readonly pausedQueues = new Set<string>();
  /** Numbers of runs whose outcome is fixed: what still runs of them is stopped. */
  readonly stoppingRuns = new Set<number>();
  /** Tasks that schedules made. A schedule may cancel them. */
  readonly scheduledTasks = new Set<number>();
  /** Tasks of steps, by the number of their run. */
  private readonly stepTasks = new Map<number, TaskStory[]>();
  /** Number of records told so far. */
  tail = 0;
  /** The partition's time of the command that was told last. */
  now = 0;
  /**
   * The time of the newest record. A restart continues from it: commands without a record are lost.
   */
  private recordedAt = 0;
  /** Number of records that the newest server made, durable or not. */
  private records = 0;
  private readonly pending: Pending[] = [];
  private readonly decoder = new EventDecoder();
  private isBooting = true;
  /** The next place at the tail and at the head of a lane. */
  private nextTail = 1;
  private nextHead = 0;

  constructor(simulation: Simulation) {
    this.simulation = simulation;
  }

  get(id: string): TaskStory | undefined {
    return this.byId.get(id);
  }

  heldBy(session: string): ReadonlySet<TaskStory> {
    return this.held.get(session) ?? NONE;
  }

  executed(command: Command, reply: unknown, partition: WatchedPartition): void {
    const { records, grantsLeases } = partition;
    const hasRecord = records > this.records;
    this.records = records;
    const { now: executedAt } = this.simulation;
    const keeping = sessionsKeepingRoom(partition);
    const told = { command: keepCommand(command), reply, executedAt, grantsLeases, keeping };
    this.pending.push({ ...told, records, hasRecord });
    if (records === this.tail) this.tellUnrecorded();
  }

  committed({ expectedTail, bytes }: LogBatch): void {
    this.tellBatch(expectedTail, bytes);
  }

  read({ firstRecord, bytes }: StoredBatch): void {
    if (this.isBooting && firstRecord >= this.tail) this.tellBatch(firstRecord, bytes);
  }

  booted(partition: WatchedPartition, hold: LogHold): void {
    this.simulation.check(this.tail === hold.tail, 'I29', () => {
      return `${this.tail} records are known, and the log comes back with ${hold.tail}`;
    });
    this.pending.length = 0;
    this.records = hold.tail;
    this.now = this.recordedAt;
    this.isBooting = false;
    for (const rule of this.rules) rule.booted?.(partition, hold);
  }

  stopped(): void {
    this.isBooting = true;
    for (const rule of this.rules) rule.stopped?.();
  }

  ended(): void {
    for (const rule of this.rules) rule.ended?.();
  }

  private tellBatch(firstRecord: number, bytes: Uint8Array): void {
    this.simulation.check(firstRecord === this.tail, 'I28', () => {
      return `record ${firstRecord} follows ${this.tail}`;
    });
    let told: ToldCommand | undefined;
    let toldPlace = -1;
    const visit = (event: Event, at: number, place: number) => {
      if (place !== toldPlace) {
        if (told !== undefined) this.end(told);
        told = this.beginRecord(firstRecord + place, at);
        toldPlace = place;
      }
      if (told !== undefined) this.tell(event, told);
    };
    readEvents(bytes, UTF8, visit, this.decoder);
    if (told !== undefined) this.end(told);
    this.tellUnrecorded();
  }

  private beginRecord(record: number, at: number): ToldCommand {
    this.tellUnrecorded();
    const cause = this.pending.shift();
    const isCause = cause?.hasRecord === true && cause.records === record + 1;
    this.simulation.check(isCause, 'I28', `nobody wrote record ${record}`);
    this.tail = record + 1;
    this.recordedAt = at;
    return this.begin(cause as Pending, at);
  }

  /** Tells commands without a record, once everything before them is told. */
  private tellUnrecorded(): void {
    for (;;) {
      const next = this.pending.at(0);
      if (next === undefined || next.hasRecord || next.records > this.tail) return;
      this.pending.shift();
      this.end(this.begin(next, Math.max(this.now, next.command.now)));
    }
  }

  /** Begins to tell a command. `tell` follows for each of its events, then `end`. */
  begin({ command, reply, executedAt, ...rest }: Carried, at: number): ToldCommand {
    this.simulation.check(at >= this.now, 'I18', `time goes from ${this.now} back to ${at}`);
    this.now = at;
    const { grantsLeases, keeping } = rest;
    const told = { command, reply, at, executedAt, grantsLeases, keeping };
    for (const rule of this.rules) rule.begins?.(told);
    return told;
  }

  end(told: ToldCommand): void {
    for (const rule of this.rules) rule.ends?.(told);
  }

  tell(event: Event, told: ToldCommand): void {
    if (event.type === 'state_hashed') return;
    const task = isAboutTask(event) ? this.tasks.get(event.task) : undefined;
    for (const rule of this.rules) rule.event?.(event, task, told);
    this.take(event, task, told.at);
  }

  private take(event: Event, task: TaskStory | undefined, at: number): void {
    if (event.type === 'queue_changed') {
      if (event.paused) this.pausedQueues.add(event.taskType);
      else this.pausedQueues.delete(event.taskType);
    }
    if (event.type === 'run_stopping') this.stoppingRuns.add(event.task);
    if (event.type === 'schedule_fired') this.scheduledTasks.add(event.made);
    if (event.type === 'run_forgotten') this.leaveRun(event.task);
    if (isFirst(event)) {
      if (task === undefined) this.addTask(beginStory(event, at));
      else readmit(task, event, at);
      const added = this.tasks.get(event.task);
      if (added?.phase === 'queued') this.joinLane(added, event, false);
    } else if (task !== undefined) {
      if (isHeld(task)) this.held.get(task.session)?.delete(task);
      const wasQueued = task.phase === 'queued';
      if (wasQueued) this.laneOf(task).delete(task);
      advance(task, event, at);
      if (isHeld(task)) this.hold(task);
      if (task.phase === 'queued') this.joinLane(task, event, wasQueued);
    }
  }

  /** A task joins the head of its lane after a returned attempt or a pause, otherwise the tail. */
  private joinLane(task: TaskStory, event: Event, wasQueued: boolean): void {
    const toHead = event.type === 'attempt_returned' || event.type === 'task_resumed';
    if (!wasQueued || hasNewLevel(event)) task.place = toHead ? this.nextHead-- : this.nextTail++;
    this.laneOf(task).add(task);
  }

  private laneOf({ queue, priority, shape }: TaskStory): Set<TaskStory> {
    const lanes = this.lanes.get(queue) ?? new Map<string, Set<TaskStory>>();
    this.lanes.set(queue, lanes);
    const name = `${priority} ${shape}`;
    const lane = lanes.get(name) ?? new Set<TaskStory>();
    lanes.set(name, lane);
    return lane;
  }

  private leaveRun(run: number): void {
    for (const task of this.stepTasks.get(run) ?? []) task.hasLeftRun = true;
    this.stepTasks.delete(run);
  }

  private addTask(task: TaskStory): void {
    if (task.run !== 0) {
      this.stepTasks.set(task.run, [...(this.stepTasks.get(task.run) ?? []), task]);
    }
    this.tasks.set(task.number, task);
    this.byId.set(task.id, task);
  }

  private hold(task: TaskStory): void {
    const held = this.held.get(task.session);
    if (held === undefined) this.held.set(task.session, new Set([task]));
    else held.add(task);
  }
}

const NONE: ReadonlySet<TaskStory> = new Set();
const NOBODY: ReadonlySet<string> = new Set();

/** Sessions that received something from the last command and keep room for a task. */
function sessionsKeepingRoom(partition: WatchedPartition): ReadonlySet<string> {
  const { pushSessions } = partition.outputs;
  if (pushSessions.length === 0) return NOBODY;
  return new Set(pushSessions.filter((id) => partition.reservedFor(id) !== undefined));
}

/** A patch that names the priority moves the task to the tail, even when the value is the same. */
function hasNewLevel(event: Event): boolean {
  return event.type === 'task_patched' && (event.fields & PATCHED.priority) !== 0;
}

const ABOUT_NO_TASK: readonly Event['type'][] = [
  'queue_changed',
  'task_type_changed',
  'redrive_started',
  'redrive_ended',
  'numbers_skipped',
  'dedupe_forgotten',
  'dedupe_input_changed',
  'request_remembered',
  'access_key_created',
  'access_key_expiry_set',
  'access_key_revoked',
  'audit_recorded',
  'callback_delivered',
  'callback_failed',
  'callback_redelivered',
  'callback_dropped',
  'state_hashed',
  'workflow_registered',
  'workflow_removed',
  'run_started',
  'step_started',
  'step_ended',
  'frame_opened',
  'branches_opened',
  'steps_reset',
  'run_revived',
  'run_readmitted',
  'run_changed',
  'step_stopping',
  'run_stopping',
  'run_ended',
  'run_forgotten',
  'child_started',
  'schedule_put',
  'schedule_changed',
  'schedule_removed',
  'schedule_fired',
  'schedule_delayed',
  'backfill_started',
  'backfill_ended',
  'times_missed',
  'values_asked',
  'run_delivery_owed',
  'step_skip_planned',
  'step_key_kept',
  'run_overdue',
];

function isAboutTask({ type }: Event): boolean {
  return !ABOUT_NO_TASK.includes(type);
}
