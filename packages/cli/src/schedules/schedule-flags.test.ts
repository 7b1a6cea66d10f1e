import { expect, test } from 'vitest';
import type { CommandIo } from '../base/exit-code.ts';
import { inFlags, type ScheduleFlags, scheduleOf } from './schedule-flags.ts';

const io = {} as CommandIo;

test.each<[ScheduleFlags, object]>([
  [
    { cron: '0 3 * * *', 'time-zone': 'Europe/Berlin', type: 'report', input: '{"a": 1}' },
    {
      spec: { cron: '0 3 * * *', timeZone: 'Europe/Berlin' },
      task: { type: 'report', input: { a: 1 } },
    },
  ],
  [
    { every: '1.5m', 'fixed-delay': true, 'start-at': '2030-01-01T00:00:00Z', type: 'poll' },
    {
      spec: { everyMs: 90_000, mode: 'fixedDelay', startAt: '2030-01-01T00:00:00Z' },
      task: { type: 'poll' },
    },
  ],
  [
    { every: '50ms', 'allow-fast': true, type: 'poll', paused: true },
    { spec: { everyMs: 50, allowFast: true }, task: { type: 'poll' }, paused: true },
  ],
  [
    { at: '2030-01-01T00:00:00Z', workflow: 'mail', version: '2', priority: '8' },
    { spec: { at: '2030-01-01T00:00:00Z' }, run: { workflow: 'mail', version: 2, priority: 8 } },
  ],
  [
    { permanent: true, replicas: '3', type: 'consume', tag: ['team=data', 'a=b=c'] },
    {
      spec: { permanent: true, replicas: 3 },
      task: { type: 'consume' },
      tags: { team: 'data', a: 'b=c' },
    },
  ],
  [
    {
      cron: '@daily',
      type: 'a',
      misfire: 'all',
      'misfire-max': '5',
      overlap: 'queue',
      jitter: '10s',
      to: '2031-01-01T00:00:00Z',
    },
    {
      spec: { cron: '@daily' },
      task: { type: 'a' },
      misfire: 'all',
      misfireMax: 5,
      overlap: 'queue',
      jitterMs: 10_000,
      window: { to: '2031-01-01T00:00:00Z' },
    },
  ],
])('%j describes a schedule', async (flags, schedule) => {
  expect(await scheduleOf(flags, [], io)).toEqual(schedule);
});

test.each<[ScheduleFlags, string]>([
  [{ type: 'a' }, 'give --cron, --every, --at or --permanent'],
  [{ cron: '@daily' }, '--type TYPE for a task, --workflow NAME for a run, or -- COMMAND'],
  [{ cron: '@daily', every: '5s', type: 'a' }, '--cron and --every exclude each other'],
  [{ at: 'x', permanent: true, type: 'a' }, '--at and --permanent exclude each other'],
  [{ cron: '@daily', type: 'a', workflow: 'b' }, '--type and --workflow exclude each other'],
  [{ every: '5s', 'time-zone': 'UTC', type: 'a' }, '--time-zone needs --cron'],
  [{ at: 'x', 'time-zone': 'UTC', type: 'a' }, 'a time has its own offset'],
  [{ cron: '@daily', 'fixed-delay': true, type: 'a' }, '--fixed-delay needs --every'],
  [{ cron: '@daily', 'start-at': 'x', type: 'a' }, '--start-at needs --every'],
  [{ cron: '@daily', replicas: '2', type: 'a' }, '--replicas needs --permanent'],
  [{ cron: '@daily', version: '2', type: 'a' }, '--version needs --workflow'],
  [{ cron: '@daily', cpu: '2', type: 'a' }, '--cpu needs a command'],
  [{ permanent: true, jitter: '5s', type: 'a' }, '--permanent and --jitter exclude each other'],
  [{ cron: '@daily', 'misfire-max': '5', type: 'a' }, '--misfire-max needs --misfire all'],
  [{ cron: '@daily', misfire: 'skp', type: 'a' }, "once, skip or all, not 'skp'; did you mean"],
  [{ cron: '@daily', overlap: 'x', type: 'a' }, 'allow, skip, queue or cancelPrevious'],
  [{ every: 'often', type: 'a' }, '--every must be a time such as 500ms, 30s, 5m, 2h or 1d'],
  [{ permanent: true, replicas: 'two', type: 'a' }, '--replicas must be a whole number'],
  [{ cron: '@daily', type: 'a', input: '{' }, '--input is not JSON'],
  [{ cron: '@daily', type: 'a', tag: ['team'] }, '--tag must be NAME=VALUE'],
])('%j is refused: %s', async (flags, message) => {
  await expect(scheduleOf(flags, [], io)).rejects.toThrow(message);
});

test.each([
  ['/spec/cron cannot be read', '--cron cannot be read'],
  ['/spec/everyMs is below 100; set allowFast', '--every is below 100ms; set --allow-fast'],
  ['/jitterMs must be <= 86400000', '--jitter must be <= 86400000ms'],
  ['/window/to is before window.from', '--to is before --from'],
  ['not valid: /from must be a time', 'not valid: --from must be a time'],
  ['/run/workflow must be a text', '--workflow must be a text'],
  ['the path is not valid: /id must be short', 'the id must be short'],
])('%s is worded as %s', (message, worded) => {
  expect(inFlags(message)).toBe(worded);
});
