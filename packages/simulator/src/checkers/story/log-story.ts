import { type Command, type Event, EventDecoder, readEvents } from '@sluice/core';
import type { LogBatch, LogHold, StoredBatch } from '@sluice/log';
import type { Simulation } from '../../kernel/simulation.ts';
import type { WatchedPartition } from '../../server/watched-partition.ts';
import { UTF8 } from '../../utf8.ts';
import type { Checker } from '../checker.ts';
import { keepCommand } from './keep-command.ts';
import type { StoryRule, ToldCommand } from './story-rule.ts';
import { advance, beginStory, isHeld, PATCHED, readmit, type TaskStory } from './task-story.ts';

type Carried = Omit<ToldCommand, 'at'>;

/** A command whose record, if it has one, may not be durable yet. */
interface Pending extends Carried {
  /** How many records the log holds once this command is durable. */
  readonly records: number;
  readonly hasRecord: boolean;
}

/**
 * Tells what the log tells: every command in order, with the events that became durable of it.
 *
 * What was carried out and never became durable is not told, whoever may have seen it. What became
 * durable although nobody heard so, because the server died meanwhile, is told when the next server
 * reads it.
 */
export class LogStory implements Checker {
  readonly name = 'story';
  readonly simulation: Simulation;
  readonly rules: StoryRule[] = [];
  /** By number; also those that left memory. */
  readonly tasks = new Map<number, TaskStory>();
  /** By the text of their ids. */
  readonly byId = new Map<string, TaskStory>();
  /** Tasks that stand in their queues, by the key of the queue and what makes them alike. */
  readonly lanes = new Map<string, Map<string, Set<TaskStory>>>();
  /** What each session holds, by the log alone. */
  readonly held = new Map<string, Set<TaskStory>>();
  /** Keys of queues that give nothing out. */
  readonly pausedQueues = new Set<string>();
  /** How many records it told of. */
  tail = 0;
  /** The partition's time of what was told last. */
  now = 0;
  /** The time of the newest record. What had none is no part of what a restart goes on from. */
  private recordedAt = 0;
  /** How many records the newest server made, durable or not. */
  private records = 0;
  private readonly pending: Pending[] = [];
  private readonly decoder = new EventDecoder();
  private isBooting = true;
  /** Where tasks go that join a lane at its tail or at its head. */
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

  /** Those that made no record, as far as all before them is told. */
  private tellUnrecorded(): void {
    for (;;) {
      const next = this.pending.at(0);
      if (next === undefined || next.hasRecord || next.records > this.tail) return;
      this.pending.shift();
      this.end(this.begin(next, Math.max(this.now, next.command.now)));
    }
  }

  /** A command is told of; what it did follows with `tell`, and `end` closes it. */
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
    if (event.type === 'task_submitted' || event.type === 'task_readmitted') {
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

  /** A task goes to the head when its lease or a pause was all that kept it from its place. */
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

  private addTask(task: TaskStory): void {
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

/** Of those that the last command gave something. */
function sessionsKeepingRoom(partition: WatchedPartition): ReadonlySet<string> {
  const { pushSessions } = partition.outputs;
  if (pushSessions.length === 0) return NOBODY;
  return new Set(pushSessions.filter((id) => partition.reservedFor(id) !== undefined));
}

/** Also the level that it had puts a task to the tail, if somebody says so. */
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
  'access_key_created',
  'access_key_expiry_set',
  'access_key_revoked',
  'audit_recorded',
  'callback_delivered',
  'callback_failed',
  'callback_redelivered',
  'callback_dropped',
  'state_hashed',
];

function isAboutTask({ type }: Event): boolean {
  return !ABOUT_NO_TASK.includes(type);
}
