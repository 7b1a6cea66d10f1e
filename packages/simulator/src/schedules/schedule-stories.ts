import { type Event, RUN_STATES } from '@sluice/core';
import type { Situations } from '../base/situations.ts';
import type { ServerPace } from '../checkers/runs/server-pace.ts';
import type { LogStory } from '../checkers/story/log-story.ts';
import type { StoryRule, ToldCommand } from '../checkers/story/story-rule.ts';
import { hasEnded, type TaskStory } from '../checkers/story/task-story.ts';
import type { WatchedPartition } from '../server/watched-partition.ts';
import { changeOf, inputNumber } from './asked-change.ts';
import { expectedAfterPause, expectedPut, timerProblem } from './expected-times.ts';
import { FireRules } from './fire-rules.ts';
import type { KnownSchedules } from './known-schedules.ts';
import { NaiveTimes } from './naive-times.ts';
import { type EventOf, ScheduleStory, type Work } from './schedule-story.ts';
import { schedulesInMemory } from './schedules-in-memory.ts';

interface Parts {
  readonly known: KnownSchedules;
  readonly pace: ServerPace;
  readonly situations: Situations;
}

/** What is due happens within this time while the server is free. */
const LATE_MS_MAX = 100;

/** A retry for want of room comes within this time. */
const RETRY_MS_MAX = 60_000;

/**
 * Compares the log with a naive model of each schedule and a naive calendar.
 *
 * I18: nothing fires before its time, while paused, after a delete or by an old version; a time
 *   fires once, and a change that was acknowledged is in the log.
 * I19: the times that fired, and those that were skipped, are exactly those of the calendar under
 *   the policies of the schedule, whatever restarts; what is due happens soon.
 * I44: a permanent schedule never has more replicas than it asks for, except those that stop.
 */
export class ScheduleStories implements StoryRule {
  readonly story: LogStory;
  readonly situations: Situations;
  private readonly parts: Parts;
  private readonly byNumber = new Map<number, ScheduleStory>();
  private readonly byName = new Map<string, ScheduleStory>();
  /** The schedule that made a task or run, until that has ended. */
  private readonly watched = new Map<number, ScheduleStory>();
  /** A watched task that the last event changed. */
  private touched = 0;
  private readonly runsOver = new Set<number>();
  /** Works that have to stop by the end of the command. */
  private readonly toStop = new Set<Work>();
  /** Schedules whose replicas the command may have changed. */
  private readonly changed = new Set<ScheduleStory>();
  /** Numbers in the inputs of all versions, and how often each name was deleted. */
  private readonly inputs = new Set<string>();
  private readonly deletes = new Map<string, number>();
  private readonly fireRules: FireRules;

  constructor(story: LogStory, parts: Parts) {
    this.story = story;
    this.parts = parts;
    this.situations = parts.situations;
    this.fireRules = new FireRules(this);
  }

  begins(told: ToldCommand): void {
    this.settle();
    this.toStop.clear();
    this.changed.clear();
    this.fireRules.begins(told);
  }

  event(event: Event, task: TaskStory | undefined, told: ToldCommand): void {
    this.settle();
    if (isAboutSchedule(event)) this.trace(event, told.at);
    if (task !== undefined && this.watched.has(task.number)) this.touched = task.number;
    switch (event.type) {
      case 'task_submitted':
      case 'run_started':
        return this.fireRules.made(event, told);
      case 'run_ended':
        this.runsOver.add(event.task);
        return this.workEnded(event.task, told.at, RUN_STATES[event.state] === 'cancelled');
      case 'run_revived':
        this.runsOver.delete(event.task);
        return;
      case 'schedule_put':
        return this.put(event, told);
      case 'schedule_changed':
        return this.changedBy(event, told);
      case 'schedule_removed':
        return this.removed(event, told);
      case 'schedule_fired':
        return this.fired(event, told);
      case 'times_missed':
        return this.fireRules.passed(event);
      case 'schedule_delayed':
        return this.delayed(event, told);
      case 'backfill_started':
        return this.backfillStarted(event, told);
      case 'backfill_ended':
        return this.backfillEnded(event, told);
      default:
        return;
    }
  }

  ends(told: ToldCommand): void {
    this.settle();
    this.fireRules.ends();
    for (const work of this.toStop) {
      this.check(!this.runsOn(work), 'I44', () => `work ${work.number} goes on`);
    }
    for (const each of this.changed) this.lookAtReplicas(each);
    this.lookAtDue(told);
  }

  booted(partition: WatchedPartition): void {
    const all = [...this.byNumber.values()];
    const problems = schedulesInMemory(partition.state, all);
    this.check(problems.length === 0, 'I19', () => problems.join('; '));
    for (const each of all) each.overdueSince = undefined;
    if (all.length > 0) this.situations.note('a restart with schedules');
    if (all.some(({ backfill }) => backfill !== undefined)) {
      this.situations.note('a restart with a backfill');
    }
    if (all.some(({ replicas }) => replicas.live.length > 0)) {
      this.situations.note('a restart with replicas');
    }
  }

  ended(): void {
    const deletes = new Map<string, number>();
    const { changes, triggered } = this.parts.known;
    for (const { name, input } of changes) {
      if (input === undefined) deletes.set(name, (deletes.get(name) ?? 0) + 1);
      else {
        this.check(this.inputs.has(`${name} ${input}`), 'I18', () => {
          return `a put of ${name} with input ${input} was acknowledged, not in the log`;
        });
      }
    }
    for (const [name, count] of deletes) {
      this.check((this.deletes.get(name) ?? 0) >= count, 'I18', () => {
        return `${count} deletes of ${name} were acknowledged, fewer are in the log`;
      });
    }
    for (const id of triggered) {
      const isKnown = id.startsWith('r_') || this.story.get(id) !== undefined;
      this.check(isKnown, 'I1', () => `a trigger was answered with ${id}, not in the log`);
    }
  }

  /** Whether a task or run has not ended. A task that is retried by hand lives again. */
  isLive({ number, isRun }: Work): boolean {
    if (isRun) return !this.runsOver.has(number);
    const task = this.story.tasks.get(number);
    return task !== undefined && !task.isForgotten && !hasEnded(task);
  }

  /** Works of the schedule that `overlap` looks at. */
  liveOf({ last, beside }: ScheduleStory): Work[] {
    return [...beside.values(), ...(last === undefined || !this.isLive(last) ? [] : [last])];
  }

  watch(work: Work, schedule: ScheduleStory): void {
    this.watched.set(work.number, schedule);
  }

  mustStop(work: Work): void {
    this.toStop.add(work);
  }

  check(holds: boolean, rule: string, what: () => string): void {
    this.story.simulation.check(holds, rule, what);
  }

  /** The trace of a failure is of no use without these. */
  private trace(event: Event, at: number): void {
    const { name, settings } = this.byNumber.get(event.task) ?? {};
    const { definition: _, ...fields } = { definition: undefined, ...event };
    const text = JSON.stringify({ at, ...fields, settings });
    this.story.simulation.log('schedules', `${name ?? ''} ${text}`);
  }

  private runsOn(work: Work): boolean {
    if (!this.isLive(work)) return false;
    if (work.isRun) return !this.story.stoppingRuns.has(work.number);
    return this.story.tasks.get(work.number)?.isCancelAsked !== true;
  }

  /** The story has applied the last event by now. */
  private settle(): void {
    const { touched } = this;
    this.touched = 0;
    const task = touched === 0 ? undefined : this.story.tasks.get(touched);
    if (task === undefined || !hasEnded(task)) return;
    this.workEnded(touched, task.endedAt, task.phase === 'cancelled');
  }

  private workEnded(number: number, at: number, wasCancelled: boolean): void {
    const schedule = this.watched.get(number);
    if (schedule === undefined) return;
    this.watched.delete(number);
    schedule.ended(number, { at, wasCancelled });
  }

  private put(event: EventOf<'schedule_put'>, { command, at }: ToldCommand): void {
    const asked = command.type === 'change_schedules' ? changeOf(command, event.name) : undefined;
    const { settings, paused = false } = asked?.change ?? {};
    this.check(settings !== undefined, 'I18', () => `${event.name} changes, and nobody asked`);
    if (asked === undefined || settings === undefined) return;
    const before = this.byName.get(keyOf(event));
    const isSame = before?.number === event.task && before.slot === event.slot;
    this.check(before === undefined || isSame, 'I19', () => `${event.name} is there twice`);
    const schedule = before ?? new ScheduleStory(event, settings);
    const expected = expectedPut(before, { settings, paused, at }, (work) => this.isLive(work));
    this.byNumber.set(schedule.number, schedule);
    this.byName.set(keyOf(event), schedule);
    const wasPaused = schedule.paused;
    Object.assign(schedule, { settings, paused, input: asked.input, anchor: expected.anchor });
    schedule.times = new NaiveTimes(settings, expected.anchor);
    schedule.isBlocked = expected.isBlocked;
    this.checkTimes(schedule, event, { expected: expected.nextAt, at, kept: expected.timerAt });
    Object.assign(schedule, { nextAt: event.nextAt, timerAt: event.timerAt });
    schedule.delayMs = event.delayMs;
    schedule.revision = event.revision;
    if (schedule.isBlocked) this.watchAgain(schedule);
    if (wasPaused && !paused) schedule.replicas.release(at);
    schedule.replicas.resize(schedule.replicaCount, at);
    this.changed.add(schedule);
    this.inputs.add(`${event.name} ${inputNumber(asked.input)}`);
  }

  private watchAgain(schedule: ScheduleStory): void {
    const { last } = schedule;
    if (last === undefined || !this.isLive(last)) return;
    schedule.isLastOver = false;
    this.watch(last, schedule);
  }

  private checkTimes(
    schedule: ScheduleStory,
    event: { readonly nextAt: number; readonly timerAt: number },
    given: { readonly expected: number; readonly at: number; readonly kept?: number | undefined },
  ): void {
    const { name } = schedule;
    const { expected, at, kept } = given;
    this.check(event.nextAt === expected, 'I19', () => {
      return `the next time of ${name} is ${event.nextAt}, not ${expected}`;
    });
    const problem =
      kept === undefined
        ? timerProblem(schedule, event, at)
        : event.timerAt !== kept && `its timer moves from ${kept} to ${event.timerAt}`;
    this.check(!problem, 'I19', () => `${name}: ${problem}`);
  }

  /** It was paused, resumed, or the window of a fixed delay is over. */
  private changedBy(event: EventOf<'schedule_changed'>, { command, at }: ToldCommand): void {
    const schedule = this.of(event);
    if (schedule === undefined) return;
    const { name } = schedule;
    const isOver = command.type === 'advance_time';
    const isAsked = command.type === 'pause_schedules' && command.names.includes(name);
    this.check(isOver || isAsked, 'I18', () => `${name} is changed by ${command.type}`);
    if (isOver) {
      const { from = 0 } = schedule.settings.window ?? {};
      const isOut = schedule.nextAt > schedule.windowEnd || schedule.nextAt < from;
      const expected = schedule.nextAt < from ? from : 0;
      this.check(schedule.isDelay && isOut && event.nextAt === expected, 'I19', () => {
        return `${name} goes from ${schedule.nextAt} to ${event.nextAt} without a fire`;
      });
    } else {
      const expected = expectedAfterPause(schedule, event.paused, at);
      this.checkTimes(schedule, event, { expected, at });
    }
    const { revision, paused, nextAt, timerAt } = event;
    Object.assign(schedule, { revision, paused, nextAt, timerAt, missed: 0 });
    if (schedule.replicaCount > 0) schedule.replicas.release(at);
    this.changed.add(schedule);
    this.situations.note(
      isOver ? 'a fixed delay left its window' : `a schedule: paused is ${paused}`,
    );
  }

  /** What it made goes on, except replicas. */
  private removed(event: EventOf<'schedule_removed'>, { command }: ToldCommand): void {
    const schedule = this.of(event);
    if (schedule === undefined) return;
    const { name } = schedule;
    const asked = command.type === 'change_schedules' ? changeOf(command, name) : undefined;
    const isAsked = asked !== undefined && asked.change.settings === undefined;
    this.check(isAsked, 'I18', () => `${name} is removed, and nobody asked`);
    for (const { made, isRun } of schedule.replicas.live) this.mustStop({ number: made, isRun });
    if (schedule.replicas.live.length > 0) this.situations.note('replicas were deleted');
    for (const [number, each] of this.watched) if (each === schedule) this.watched.delete(number);
    this.byNumber.delete(schedule.number);
    this.byName.delete(keyOf(schedule));
    this.deletes.set(name, (this.deletes.get(name) ?? 0) + 1);
  }

  private fired(event: EventOf<'schedule_fired'>, told: ToldCommand): void {
    const schedule = this.of(event);
    if (schedule === undefined) return;
    this.fireRules.fired(schedule, event, told);
    schedule.overdueSince = undefined;
  }

  private delayed(event: EventOf<'schedule_delayed'>, { at }: ToldCommand): void {
    const schedule = this.of(event);
    if (schedule === undefined) return;
    const waitsMs = event.timerAt - at;
    this.check(waitsMs > 0 && waitsMs <= RETRY_MS_MAX, 'I19', () => {
      return `${schedule.name} tries again after ${waitsMs} ms`;
    });
    this.situations.note('a fire was delayed');
    schedule.overdueSince = undefined;
    if (event.backfill !== 0 && schedule.backfill !== undefined) {
      schedule.backfill.nextAt = Math.max(schedule.backfill.nextAt, event.timerAt);
      return;
    }
    this.check(at >= schedule.dueAt, 'I18', () => `${schedule.name} is tried too early`);
    schedule.timerAt = event.timerAt;
    schedule.replicas.delay(event.timerAt);
  }

  private backfillStarted(event: EventOf<'backfill_started'>, { command, at }: ToldCommand): void {
    const schedule = this.of(event);
    if (schedule === undefined || command.type !== 'start_backfill') return;
    const { nextTime, ratePer1000Sec } = event;
    const until = Math.min(command.to, at);
    const first = schedule.times.next(command.from - 1);
    const isRight = nextTime === first && event.until === until && first <= until;
    this.check(isRight, 'I19', () => `a backfill of ${schedule.name} begins at ${nextTime}`);
    const ratePerSec = ratePer1000Sec / 1000;
    schedule.backfill = { number: event.backfill, nextTime, until, ratePerSec, nextAt: at };
  }

  private backfillEnded(event: EventOf<'backfill_ended'>, { command }: ToldCommand): void {
    const schedule = this.of(event);
    const isDone = schedule?.backfill?.nextTime === 0;
    this.check(command.type !== 'advance_time' || isDone, 'I19', () => {
      return `the backfill of ${schedule?.name} ends before its last time`;
    });
    if (isDone) this.situations.note('a backfill fired for all its times');
    if (schedule !== undefined) schedule.backfill = undefined;
  }

  private lookAtReplicas(schedule: ScheduleStory): void {
    const going = schedule.replicas.live.filter(({ made, isRun }) => {
      return this.runsOn({ number: made, isRun });
    });
    const most = schedule.paused ? 0 : schedule.replicaCount;
    this.check(going.length <= most, 'I44', () => {
      return `${schedule.name} has ${going.length} replicas that go on, not ${most}`;
    });
    const isOld = going.some(({ work }) => work !== schedule.work);
    this.check(!isOld, 'I44', () => `a replica of an old version of ${schedule.name} goes on`);
  }

  private lookAtDue({ at, executedAt }: ToldCommand): void {
    for (const each of this.byNumber.values()) {
      const dueAt = Math.min(each.dueAt, each.backfill?.nextAt ?? Number.POSITIVE_INFINITY);
      if (dueAt > at) {
        each.overdueSince = undefined;
        continue;
      }
      each.overdueSince ??= executedAt;
      const lateMs = executedAt - Math.max(each.overdueSince, this.parts.pace.freeSince);
      this.check(lateMs <= LATE_MS_MAX, 'I19', () => {
        return `${each.name} is due at ${dueAt}, and has not fired for ${Math.round(lateMs)} ms`;
      });
    }
  }

  private of(event: { readonly type: string; readonly task: number }): ScheduleStory | undefined {
    const schedule = this.byNumber.get(event.task);
    this.check(schedule !== undefined, 'I18', () => {
      return `${event.type} of schedule ${event.task}, which does not exist`;
    });
    return schedule;
  }
}

function isAboutSchedule({ type }: Event): boolean {
  return /^(schedule|backfill|times)_/.test(type);
}

function keyOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}
