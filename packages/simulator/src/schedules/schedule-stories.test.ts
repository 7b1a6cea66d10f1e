import { type Event, FIRE_CAUSES, FIRE_REASONS, type ScheduleSettings } from '@sluice/core';
import { expect, test } from 'vitest';
import { Situations } from '../base/situations.ts';
import { ServerPace } from '../checkers/runs/server-pace.ts';
import { event, payload, state, TestStory } from '../checkers/testing/test-story.ts';
import type { WorldPlan } from '../plan/world-plan.ts';
import { KnownSchedules } from './known-schedules.ts';
import { ScheduleStories } from './schedule-stories.ts';

const NUMBER = 50;
const ALARM = { type: 'advance_time' } as const;
const PLAN = { limits: { payloadBytesMax: 1 } } as unknown as WorldPlan;
const SECOND = 1000;

type Fired = Partial<Extract<Event, { type: 'schedule_fired' }>>;
interface Named {
  readonly cause?: (typeof FIRE_CAUSES)[number];
  readonly reason?: (typeof FIRE_REASONS)[number];
}

/** A schedule of one second that a test changes and fires as it likes. */
class ScheduleTest extends TestStory {
  readonly known = new KnownSchedules();
  private tasks = 100;
  private settings: ScheduleSettings = { spec: { everyMs: SECOND, mode: 'fixedRate' } };

  constructor() {
    super();
    const pace = new ServerPace(this.simulation, PLAN);
    const parts = { known: this.known, pace, situations: new Situations() };
    this.story.rules.push(new ScheduleStories(this.story, parts));
  }

  put(given: Partial<ScheduleSettings> = {}, fields: object = {}): this {
    this.settings = { ...this.settings, task: { type: 'a' }, ...given };
    const { spec } = this.settings;
    const isRate = 'everyMs' in spec && spec.mode === 'fixedRate';
    const next = isRate ? this.now + SECOND : 0;
    const input = payload('{"n":1}').bytes;
    const changes = [{ name: 'p', settings: this.settings }];
    const times = { nextAt: next, timerAt: next, anchor: next };
    const base = { task: NUMBER, name: 'p', revision: 1, paused: false, delayMs: 0, ...times };
    return this.happens(
      { type: 'change_schedules', changes, inputs: input, inputEnds: [input.length] },
      [event('schedule_put', { ...base, ...fields })],
    );
  }

  remove(): this {
    const changes = [{ name: 'p' }];
    return this.happens(
      { type: 'change_schedules', changes, inputs: new Uint8Array(0), inputEnds: [0] },
      [event('schedule_removed', { task: NUMBER })],
    );
  }

  /** The newest task that a fire made. */
  get made(): number {
    return this.tasks;
  }

  fires(fields: Fired & Record<string, unknown> = {}, named: Named = {}): this {
    return this.happens(ALARM, this.fire(fields, named));
  }

  fire(fields: Fired & Record<string, unknown> = {}, named: Named = {}): Event[] {
    const { cause = 'time', reason = 'on_time' } = named;
    const makes = reason === 'on_time';
    if (makes) this.tasks += 1;
    const at = fields.scheduledAt ?? this.now;
    const tags = JSON.stringify({ p: new Date(at).toISOString() });
    const task = { task: this.tasks, slot: this.tasks, input: payload('{"n":1}'), tags };
    const next = cause === 'time' ? at + SECOND : 0;
    const fired = {
      ...{ task: NUMBER, cause: FIRE_CAUSES.indexOf(cause), reason: FIRE_REASONS.indexOf(reason) },
      ...{ scheduledAt: at, made: makes ? this.tasks : 0, isRun: false, nextAt: next },
      ...{ timerAt: next, delayMs: 0, missed: 0, replica: 0, backfill: 0, ...fields },
    };
    return [
      ...(makes ? [event('task_submitted', task)] : []),
      event('schedule_fired', fired as never),
    ];
  }

  ends(task = this.made): this {
    const ended = event('task_ended', { task, slot: task, state: state('succeeded') });
    return this.happens({ type: 'report_attempts', reports: [] }, [ended]);
  }
}

test('a schedule that fires at each of its times passes', () => {
  const story = new ScheduleTest().put();

  expect(() => story.after(SECOND).fires().after(SECOND).fires()).not.toThrow();
});

test('a fire before its time is noticed', () => {
  const story = new ScheduleTest().put().after(SECOND - 1);

  expect(() => story.fires({ scheduledAt: story.now + 1 })).toThrow(/^I18: p fires at/);
});

test('a time that fires twice is noticed', () => {
  const story = new ScheduleTest().put().after(SECOND).fires().after(SECOND);

  expect(() => story.fires({ scheduledAt: story.now - SECOND })).toThrow(/^I19: p fires for/);
});

test('a time that is left out is noticed', () => {
  const story = new ScheduleTest().put().after(2 * SECOND);

  expect(() => story.fires()).toThrow(/^I19: p fires for 3000, not 2000/);
});

test('a wrong next time is noticed', () => {
  const story = new ScheduleTest().put().after(SECOND);

  expect(() => story.fires({ nextAt: 3500 })).toThrow(/^I19: the time of p after/);
  expect(() => new ScheduleTest().put({}, { nextAt: 2100 })).toThrow(/^I19: the next time of p/);
});

test('a schedule that is due and does not fire is noticed', () => {
  const story = new ScheduleTest().put().after(SECOND).happens({ type: 'session_read' });

  expect(() => story.after(200).happens({ type: 'session_read' })).toThrow(/^I19: p is due at/);
});

test('a fire after a delete is noticed', () => {
  const story = new ScheduleTest().put().remove().after(SECOND);

  expect(() => story.fires()).toThrow(/^I18: schedule_fired of schedule 50, which does not exist/);
});

test('a fire of an old version is noticed', () => {
  const story = new ScheduleTest().put();
  story.put({ task: { type: 'b' } }).after(SECOND);

  expect(() => story.fires()).toThrow(/^I18: p makes a task of a, not b/);
});

test('a fire while paused is noticed', () => {
  const story = new ScheduleTest().put();
  const paused = { task: NUMBER, revision: 2, paused: true, nextAt: 2000, timerAt: 2000 };
  story.happens({ type: 'pause_schedules', names: ['p'] }, [event('schedule_changed', paused)]);

  expect(() => story.after(SECOND).fires()).toThrow(/^I18: p fires while paused/);
});

test('a skip without a reason, and a fire instead of a skip, are noticed', () => {
  const alone = new ScheduleTest().put({ overlap: 'skip' }).after(SECOND);
  expect(() => alone.fires({}, { reason: 'overlap' })).toThrow(/^I19: p makes nothing: overlap/);

  const beside = new ScheduleTest().put({ overlap: 'skip' }).after(SECOND).fires().after(SECOND);
  expect(() => beside.fires()).toThrow(/^I19: p fires and makes 102.*has to skip for overlap/);
});

test('missed times follow the policy', () => {
  const once = () => new ScheduleTest().put({ misfire: 'once' }).after(20 * SECOND);
  const counted = once();
  const missed = event('times_missed', { task: NUMBER, count: 19 });
  expect(() => counted.happens(ALARM, [missed, ...counted.fire()])).not.toThrow();
  expect(() => once().fires()).toThrow(/^I19: p missed 19 times, not 0/);
  expect(() => once().fires({ scheduledAt: 2000, nextAt: 22_000 })).toThrow(/^I19: p fires for/);

  const skip = new ScheduleTest().put({ misfire: 'skip' }).after(20 * SECOND);
  expect(() => skip.fires()).toThrow(/has to skip for misfire/);
});

test('a queue that does not wait is noticed', () => {
  const story = new ScheduleTest().put({ overlap: 'queue' }).after(SECOND).fires().after(SECOND);

  expect(() => story.fires()).toThrow(/^I18: p fires while it has to wait/);
});

test('a queue waits for what ran before a trigger, too', () => {
  const story = new ScheduleTest().put({ overlap: 'queue' }).after(SECOND).fires();
  const trigger = { type: 'trigger_schedule', name: 'p' } as const;
  story
    .happens(trigger, story.fire({}, { cause: 'trigger' }))
    .ends()
    .after(SECOND);

  expect(() => story.fires()).toThrow(/^I18: p fires while it has to wait/);
});

test('a replica too many is noticed', () => {
  const permanent = { spec: { permanent: true, replicas: 1 } } as const;
  const story = new ScheduleTest().put(permanent);
  story.fires({ replica: 1 }, { cause: 'replica' });

  expect(() => story.fires({ replica: 2 }, { cause: 'replica' })).toThrow(/^I44: p starts/);
});

test('a task that nobody fired is noticed', () => {
  const story = new ScheduleTest().put().after(SECOND);

  const [task] = story.fire();

  expect(() => story.happens(ALARM, [task])).toThrow(/^I19: work 101 is made without a fire/);
});

test('an acknowledged change that is not in the log is noticed', () => {
  const story = new ScheduleTest().put();
  story.known.changes.push({ name: 'p', input: 1 });
  expect(() => story.story.ended()).not.toThrow();

  story.known.changes.push({ name: 'p', input: undefined });
  expect(() => story.story.ended()).toThrow(/^I18: 1 deletes of p were acknowledged/);
});
