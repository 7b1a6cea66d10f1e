import { FIRE_CAUSES, FIRE_REASONS } from '@sluice/core';
import type { ToldCommand } from '../checkers/story/story-rule.ts';
import { textOf } from '../checkers/story/task-story.ts';
import { timerProblem } from './expected-times.ts';
import type { ScheduleStories } from './schedule-stories.ts';
import type { EventOf, ScheduleStory, Work } from './schedule-story.ts';

type Fired = EventOf<'schedule_fired'>;

/** Missed times that `misfire: "all"` makes up for, unless the schedule says otherwise. */
const MISFIRE_MAX = 100;

/** Missed times of a pattern that are counted at most. */
const COUNTED_MAX = 1000;

/** Commands in which schedules make tasks and runs. */
const FIRING: readonly string[] = ['advance_time', 'trigger_schedule'];

interface Expected {
  readonly scheduledAt: number;
  /** Why it must make nothing; empty when it may make something. */
  readonly skip: string;
  /** The next time is the first one after this. */
  readonly after: number;
  readonly missed: number;
  /** Number of missed times before this one. */
  readonly passed: number;
}

/** What a fire of a schedule may be, by the naive model. */
export class FireRules {
  private readonly stories: ScheduleStories;
  /** Inputs of tasks and runs that the command made and no schedule has claimed, by number. */
  private readonly unclaimed = new Map<number, string>();
  /** Missed times that the command noted, by schedule. */
  private readonly missedBefore = new Map<number, number>();

  constructor(stories: ScheduleStories) {
    this.stories = stories;
  }

  begins(_told: ToldCommand): void {
    this.unclaimed.clear();
    this.missedBefore.clear();
  }

  made(event: EventOf<'task_submitted' | 'run_started'>, { command }: ToldCommand): void {
    if (FIRING.includes(command.type)) this.unclaimed.set(event.task, textOf(event.input));
  }

  passed({ task, count }: EventOf<'times_missed'>): void {
    this.missedBefore.set(task, count);
  }

  ends(): void {
    const [number] = this.unclaimed.keys();
    this.check(number === undefined, 'I19', () => `work ${number} is made without a fire`);
  }

  fired(schedule: ScheduleStory, event: Fired, told: ToldCommand): void {
    const cause = FIRE_CAUSES[event.cause];
    const reason = FIRE_REASONS[event.reason];
    const work = event.made === 0 ? undefined : { number: event.made, isRun: event.isRun };
    if (work !== undefined) this.claim(schedule, event, told);
    switch (cause) {
      case 'time':
        this.byTime(schedule, event, told);
        break;
      case 'trigger':
        this.byTrigger(schedule, event, told);
        break;
      case 'backfill':
        this.byBackfill(schedule, event, told);
        break;
      default:
        this.replica(schedule, event, told);
    }
    if (work !== undefined) schedule.fires += 1;
    this.note(work === undefined ? `a time was skipped: ${reason}` : `a fire by ${cause}`);
  }

  /** What it made is what the newest version says, with the facts of this fire. */
  private claim(schedule: ScheduleStory, event: Fired, { at }: ToldCommand): void {
    const { name, settings } = schedule;
    const input = this.unclaimed.get(event.made);
    this.check(input !== undefined, 'I19', () => `${name} fires for ${event.made}, made earlier`);
    this.unclaimed.delete(event.made);
    const isRun = settings.run !== undefined;
    this.check(event.isRun === isRun, 'I18', () => `${name} makes what an old version said`);
    const facts = {
      scheduledAt: new Date(event.scheduledAt).toISOString(),
      firedAt: new Date(at).toISOString(),
      scheduleId: name,
      fireNumber: String(schedule.fires + 1),
    };
    let expected = schedule.input;
    for (const [fact, value] of Object.entries(facts)) {
      expected = expected.split(`{{${fact}}}`).join(value);
    }
    this.check(input === expected, 'I18', () => `${name} makes ${input}, not ${expected}`);
    const task = this.stories.story.tasks.get(event.made);
    if (task === undefined) return;
    this.check(task.queue === settings.task?.type, 'I18', () => {
      return `${name} makes a task of ${task.queue}, not ${settings.task?.type}`;
    });
    const hasTags = task.tags.includes(name) && task.tags.includes(facts.scheduledAt);
    this.check(hasTags, 'I19', () => `task ${task.number} of ${name} has tags ${task.tags}`);
  }

  private byTime(schedule: ScheduleStory, event: Fired, { at }: ToldCommand): void {
    const { name, settings, nextAt } = schedule;
    const { stories } = this;
    this.check(!schedule.paused && !schedule.isBlocked, 'I18', () => {
      return `${name} fires while ${schedule.paused ? 'paused' : 'it has to wait'}`;
    });
    this.check(at >= schedule.dueAt && at >= event.scheduledAt, 'I18', () => {
      return `${name} fires at ${at}, before ${schedule.dueAt}`;
    });
    const { from = 0 } = settings.window ?? {};
    const isInside = event.scheduledAt >= from && event.scheduledAt <= schedule.windowEnd;
    this.check(isInside, 'I19', () => `${name} fires for ${event.scheduledAt}, not in its window`);
    const live = stories.liveOf(schedule);
    const expected = this.expected(schedule, at, live);
    this.check(event.scheduledAt === expected.scheduledAt, 'I19', () => {
      return `${name} fires for ${event.scheduledAt}, not ${expected.scheduledAt} (next ${nextAt})`;
    });
    this.checkSkip(schedule, event, expected);
    const passed = this.missedBefore.get(schedule.number) ?? 0;
    this.missedBefore.delete(schedule.number);
    const isCounted =
      passed === Math.min(expected.passed, passed < COUNTED_MAX ? Infinity : passed);
    this.check(isCounted, 'I19', () => `${name} missed ${expected.passed} times, not ${passed}`);
    if (event.made !== 0) this.checkOverlap(schedule, live);
    this.checkNext(schedule, event, { at, after: expected.after });
    schedule.nextAt = event.nextAt;
    schedule.timerAt = event.timerAt;
    schedule.missed = event.missed;
    this.check(event.missed === expected.missed, 'I19', () => {
      return `${name} has made up for ${event.missed} missed times, not ${expected.missed}`;
    });
    this.note(`a ${schedule.kind} schedule fired`);
    if (event.made !== 0) this.remember(schedule, event, false);
  }

  private expected(schedule: ScheduleStory, at: number, live: readonly Work[]): Expected {
    const { nextAt, settings, times, windowEnd } = schedule;
    const overlap = settings.overlap === 'skip' && live.length > 0 ? 'overlap' : '';
    const inTime = { scheduledAt: nextAt, skip: overlap, after: nextAt, missed: 0, passed: 0 };
    if (!schedule.isMissed(at)) return inTime;
    const { misfire = 'once', misfireMax = MISFIRE_MAX } = settings;
    this.note(`a time was missed: ${misfire}`);
    if (misfire === 'all' && schedule.missed < misfireMax) {
      return { ...inTime, missed: schedule.missed + 1 };
    }
    const repeats = schedule.kind === 'cron' || schedule.kind === 'fixedRate';
    const later = repeats ? times.between(nextAt, Math.min(at, windowEnd)) : [];
    const skip = misfire === 'once' ? overlap : 'misfire';
    const scheduledAt = later.at(-1) ?? nextAt;
    return { scheduledAt, skip, after: at, missed: 0, passed: later.length };
  }

  private checkSkip({ name }: ScheduleStory, event: Fired, { skip }: Expected): void {
    const reason = FIRE_REASONS[event.reason];
    if (skip !== '') {
      this.check(event.made === 0 && reason === skip, 'I19', () => {
        return `${name} fires and makes ${event.made} (${reason}); it has to skip for ${skip}`;
      });
      return;
    }
    const mayRefuse = ['quota_exceeded', 'workflow_not_found', 'unfit_input'].includes(reason);
    this.check(event.made !== 0 || mayRefuse, 'I19', () => `${name} makes nothing: ${reason}`);
  }

  private checkOverlap(schedule: ScheduleStory, live: readonly Work[]): void {
    const { name, settings } = schedule;
    const { overlap = 'allow' } = settings;
    const isAlone = live.length === 0;
    const mayMeet = !schedule.isDelay && (overlap === 'allow' || overlap === 'cancelPrevious');
    // One that is retried by hand after its end is no longer waited for.
    const waitsFor = live.filter((work) => work !== schedule.last || !schedule.isLastOver);
    const mustWait = !mayMeet && (overlap === 'skip' ? !isAlone : waitsFor.length > 0);
    this.check(!mustWait, 'I19', () => `${name} fires beside ${live[0]?.number}`);
    if (overlap !== 'cancelPrevious' || schedule.isDelay) return;
    if (!isAlone) this.note('a fire cancelled the one before');
    for (const work of live) this.stories.mustStop(work);
  }

  private checkNext(
    schedule: ScheduleStory,
    event: Fired,
    { at, after }: { readonly at: number; readonly after: number },
  ): void {
    const { name, settings, isDelay } = schedule;
    let expected = isDelay ? 0 : schedule.times.next(after);
    if (isDelay && event.made === 0) expected = at + event.delayMs;
    this.check(event.nextAt === expected, 'I19', () => {
      return `the time of ${name} after ${after} is ${event.nextAt}, not ${expected}`;
    });
    const everyMs = 'everyMs' in settings.spec ? settings.spec.everyMs : 0;
    const extraMs = event.delayMs - everyMs;
    const isRight = !isDelay || (extraMs >= 0 && extraMs <= (settings.jitterMs ?? 0));
    this.check(isRight, 'I19', () => `${name} waits for ${event.delayMs} ms after an end`);
    const problem = timerProblem(schedule, event, at);
    this.check(problem === undefined, 'I19', () => `${name}: ${problem}`);
    const isLate = settings.jitterMs !== undefined && event.missed === 0 && event.timerAt < at;
    this.check(!isLate || event.nextAt === 0, 'I19', () => `jitter makes ${name} late`);
  }

  /** A person asked. The times of the schedule stay. */
  private byTrigger(schedule: ScheduleStory, event: Fired, { command, at }: ToldCommand): void {
    const isAsked = command.type === 'trigger_schedule' && command.name === schedule.name;
    const isRight = isAsked && event.made !== 0 && event.scheduledAt === at;
    this.check(isRight, 'I18', () => `${schedule.name} is triggered by ${command.type}`);
    if (this.stories.liveOf(schedule).length > 0) this.note('a trigger beside one that runs');
    this.remember(schedule, event, true);
  }

  private remember(schedule: ScheduleStory, event: Fired, isTrigger: boolean): void {
    const { last } = schedule;
    const isLastLive = last !== undefined && this.stories.isLive(last);
    const work = { number: event.made, isRun: event.isRun };
    schedule.remember(work, isTrigger, isLastLive);
    schedule.delayMs = event.delayMs;
    this.stories.watch(work, schedule);
    if (isTrigger && isLastLive) this.stories.watch(last, schedule);
  }

  private byBackfill(schedule: ScheduleStory, event: Fired, { command, at }: ToldCommand): void {
    const { backfill, name } = schedule;
    const isRunning = backfill?.number === event.backfill && command.type === 'advance_time';
    this.check(isRunning, 'I18', () => `${name} fires for a backfill that is over`);
    if (backfill === undefined) return;
    this.check(at >= backfill.nextAt, 'I18', () => `a backfill of ${name} is too fast`);
    this.check(event.scheduledAt === backfill.nextTime, 'I19', () => {
      return `a backfill of ${name} fires for ${event.scheduledAt}, not ${backfill.nextTime}`;
    });
    const following = schedule.times.next(event.scheduledAt);
    const expected = following > backfill.until ? 0 : following;
    this.check(event.nextAt === expected, 'I19', () => {
      return `a backfill of ${name} goes on with ${event.nextAt}, not ${expected}`;
    });
    schedule.stepBackfill(at, event.nextAt);
  }

  private replica(schedule: ScheduleStory, event: Fired, { at }: ToldCommand): void {
    const { name, replicas, replicaCount } = schedule;
    const { live } = replicas;
    this.check(!schedule.paused, 'I18', () => `${name} starts a replica while paused`);
    this.check(live.length < replicaCount && event.made !== 0, 'I44', () => {
      return `${name} starts a replica, and has ${live.length} of ${replicaCount}`;
    });
    const place = replicas.at(event.replica - 1);
    const isDue = place !== undefined && place.made === 0 && at >= place.startAt;
    this.check(isDue, 'I18', () => `${name} starts replica ${event.replica} too early`);
    if (!isDue) return;
    if (place.failures > 0) this.note('a replica was started again after a short life');
    const { made, isRun } = event;
    replicas.start(event.replica - 1, { made, madeAt: at, isRun, work: schedule.work });
    this.stories.watch({ number: made, isRun }, schedule);
  }

  private note(situation: string): void {
    this.stories.situations.note(situation);
  }

  private check(holds: boolean, rule: string, what: () => string): void {
    this.stories.check(holds, rule, what);
  }
}
