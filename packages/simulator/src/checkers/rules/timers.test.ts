import { expect, test } from 'vitest';
import { SessionStories } from '../story/session-stories.ts';
import {
  ATTACH,
  ATTACHED,
  event,
  reason,
  SUBMIT,
  state,
  TestStory,
} from '../testing/test-story.ts';
import { Timers } from './timers.ts';

const TICK = { type: 'advance_time' } as const;
const TIMEOUTS = '{"queueMs":100,"runMs":200,"heartbeatMs":300,"totalMs":1000}';

function story(): TestStory {
  let sessions: SessionStories | undefined;
  const told = new TestStory(
    (of) => {
      sessions = new SessionStories(of, 5000);
      return sessions;
    },
    (of) => new Timers(of, sessions as SessionStories),
  );
  return told.happens(ATTACH, [], ATTACHED);
}

function leased(): TestStory {
  const submitted = event('task_submitted', { timeouts: TIMEOUTS });
  return story().happens(SUBMIT, [submitted, event('attempt_leased')]);
}

function queued(): TestStory {
  return story().happens(SUBMIT, [event('task_submitted', { timeouts: TIMEOUTS })]);
}

const ended = (how: Parameters<typeof state>[0], why: Parameters<typeof reason>[0]) =>
  event('task_ended', { state: state(how), reason: reason(why) });
const stopping = (why: Parameters<typeof reason>[0], stopAt: number) =>
  event('attempt_stopping', { reason: reason(why), stopAt });

test('a delay that ends in time passes, one that ends early is noticed', () => {
  const delayed = () => story().happens(SUBMIT, [event('task_submitted', { runAt: 1500 })]);
  delayed()
    .after(500)
    .happens(TICK, [event('task_due')]);
  expect(() =>
    delayed()
      .after(499)
      .happens(TICK, [event('task_due')]),
  ).toThrow(/^I18/);
});

test('time in the queue: from each time it joins, and pauses do not count', () => {
  const expired = ended('expired', 'queue_timeout');
  queued().after(100).happens(TICK, [expired]);
  expect(() => queued().after(99).happens(TICK, [expired])).toThrow(/^I20/);
  const paused = () =>
    queued()
      .after(60)
      .happens({ type: 'pause_task' }, [event('task_paused')])
      .after(500)
      .happens({ type: 'resume_task' }, [event('task_resumed')]);
  paused().after(40).happens(TICK, [expired]);
  expect(() => paused().after(39).happens(TICK, [expired])).toThrow(/^I20/);
});

test('a task whose time is up is not leased', () => {
  const lease = event('attempt_leased');
  queued().after(99).happens(TICK, [lease]);
  expect(() => queued().after(100).happens(TICK, [lease])).toThrow(/^I20/);
});

test('the total time ends what waits as expired and what runs as timed out', () => {
  queued()
    .after(1000)
    .happens(TICK, [ended('expired', 'total_timeout')]);
  leased()
    .after(1000)
    .happens(TICK, [ended('timed_out', 'total_timeout')]);
  const wrong = (told: TestStory, how: 'expired' | 'timed_out', ms: number) =>
    expect(() => told.after(ms).happens(TICK, [ended(how, 'total_timeout')])).toThrow(/^I20/);
  wrong(queued(), 'timed_out', 1000);
  wrong(leased(), 'expired', 1000);
  wrong(leased(), 'timed_out', 999);
});

test('a run that takes too long is asked to stop, and revoked after its grace', () => {
  const revoked = event('attempt_timed_out', { reason: reason('run_timeout') });
  const stopped = () =>
    leased()
      .after(200)
      .happens(TICK, [stopping('run_timeout', 11_200)]);
  stopped().after(10_000).happens(TICK, [revoked]);
  expect(() => stopped().after(9999).happens(TICK, [revoked])).toThrow(/^I18/);
  const early = () =>
    leased()
      .after(199)
      .happens(TICK, [stopping('run_timeout', 99_999)]);
  expect(early).toThrow(/^I20/);
  const short = () =>
    leased()
      .after(200)
      .happens(TICK, [stopping('run_timeout', 11_199)]);
  expect(short).toThrow(/^I20/);
});

test('silence counts from the last report on the lease', () => {
  const heard = () => {
    const told = leased().after(100);
    const reports = [{ lease: told.lease(), kind: 'heartbeat' }];
    const report = { type: 'report_attempts', session: 's_1', reports } as const;
    return told.happens(report, [], { outcomes: ['ok'] });
  };
  heard()
    .after(300)
    .happens(TICK, [stopping('heartbeat_timeout', 99_999)]);
  const early = () =>
    heard()
      .after(299)
      .happens(TICK, [stopping('heartbeat_timeout', 99_999)]);
  expect(early).toThrow(/^I20/);
});

test('a resume is heard, one that is refused is not', () => {
  const silent = (rejection: string | undefined, ms: number) => () => {
    const told = leased().after(100);
    const resume = { ...ATTACH, resume: { session: 's_1', running: [told.lease()] } };
    told.happens(resume, [], { ...ATTACHED, resumed: true, rejection });
    told.after(ms).happens(TICK, [stopping('heartbeat_timeout', 99_999)]);
  };
  silent(undefined, 300)();
  expect(silent(undefined, 299)).toThrow(/^I20/);
  silent('resume_outdated', 200)();
});

test('after a restart silence counts from the end of the grace period', () => {
  const silent = (ms: number) => () =>
    leased()
      .restarts()
      .after(ms)
      .happens(TICK, [stopping('heartbeat_timeout', 99_999)]);
  silent(7800)();
  expect(silent(7799)).toThrow(/^I20/);
});

test('a start that is reported again in the grace period is heard, a stale report is not', () => {
  const silent = (outcome: string, ms: number) => () => {
    const told = leased().restarts().after(100);
    const reports = [{ lease: told.lease(), kind: 'started' }];
    const report = { type: 'report_attempts', session: 's_1', reports } as const;
    told.happens(report, [], { outcomes: [outcome] });
    told.after(ms).happens(TICK, [stopping('heartbeat_timeout', 99_999)]);
  };
  silent('duplicate', 300)();
  expect(silent('duplicate', 299)).toThrow(/^I20/);
  expect(silent('stale_lease', 300)).toThrow(/^I20/);
});

test('one whose handler left the end to somebody else times out too', () => {
  const later = () =>
    leased().happens({ type: 'report_attempts', reports: [] }, [event('attempt_deferred')]);
  const timedOut = event('attempt_timed_out', { reason: reason('run_timeout') });
  const reported = later();
  reported.after(200).happens(TICK, [timedOut]);
  expect(() => later().after(199).happens(TICK, [timedOut])).toThrow(/^I20/);
});

test('a cancelled task keeps its worker for the grace that was asked for', () => {
  const cancel = { type: 'cancel_tasks', graceMs: 500, ids: [] } as const;
  const asked = () => leased().happens(cancel, [stopping('cancelled', 1500)]);
  asked()
    .after(500)
    .happens(TICK, [ended('cancelled', 'cancelled')]);
  const early = () =>
    asked()
      .after(499)
      .happens(TICK, [ended('cancelled', 'cancelled')]);
  expect(early).toThrow(/^I18/);
  const short = () => leased().happens(cancel, [stopping('cancelled', 1499)]);
  expect(short).toThrow(/^I20/);
});
