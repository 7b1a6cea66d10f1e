import { expect, test } from 'vitest';
import type { Schedule, ScheduleSpec } from '../api/answers.ts';
import { stylesFor } from '../screen/styles.ts';
import {
  fireTable,
  scheduleTable,
  scheduleText,
  timesText,
  whatText,
  whenText,
  zoneText,
} from './schedule-text.ts';

const now = Date.parse('2030-03-30T00:00:00.000Z');
const styles = stylesFor({ isTerminal: false, env: {} });

const BERLIN = { cron: '0 3 * * *', timeZone: 'Europe/Berlin' };

function schedule(over: Partial<Schedule> = {}): Schedule {
  return {
    id: 'nightly',
    state: 'active',
    revision: 2,
    spec: BERLIN,
    task: { type: 'report', input: { day: '{{scheduledAt}}' } },
    paused: false,
    createdAt: '2030-01-01T00:00:00.000Z',
    changedAt: '2030-01-02T00:00:00.000Z',
    nextFireAt: '2030-03-30T02:00:00.000Z',
    lastFireAt: '2030-03-29T02:00:00.000Z',
    fireCount: 12,
    skipCount: 0,
    lastSkip: null,
    running: [],
    backfill: null,
    ...over,
  };
}

test.each<[ScheduleSpec, string]>([
  [BERLIN, '0 3 * * * Europe/Berlin'],
  [{ cron: '@daily' }, '@daily UTC'],
  [{ everyMs: 30_000 }, 'every 30s'],
  [{ everyMs: 90_000 }, 'every 90s'],
  [{ everyMs: 86_400_000 }, 'every 1d'],
  [{ everyMs: 250 }, 'every 250ms'],
  [{ everyMs: 30_000, mode: 'fixedDelay' }, '30s after the last end'],
  [{ at: '2030-12-24T18:00:00.000Z' }, 'at 2030-12-24T18:00:00Z'],
  [{ at: 0 }, 'at 1970-01-01T00:00:00Z'],
  [{ permanent: true }, '1 replica'],
  [{ permanent: true, replicas: 3 }, '3 replicas'],
])('%j is shown as %s', (spec, text) => {
  expect(whenText(spec)).toBe(text);
});

test('what it makes is a task or a run', () => {
  expect(whatText({ task: { type: 'report' } })).toBe('task report');
  expect(whatText({ run: { workflow: 'mail' } })).toBe('run mail');
  expect(whatText({ run: { workflow: 'mail', version: 2 } })).toBe('run mail (version 2)');
});

test('times are shown in the zone of the schedule, with the offset of that day', () => {
  const times = ['2030-03-30T02:00:00.000Z', '2030-03-31T01:00:00.000Z'];

  expect(timesText(times, BERLIN, now).split('\n')).toEqual([
    'Europe/Berlin                   UTC                   WHEN',
    'Sat 2030-03-30 03:00:00 +01:00  2030-03-30T02:00:00Z  in 2 h',
    'Sun 2030-03-31 03:00:00 +02:00  2030-03-31T01:00:00Z  in 25 h',
  ]);
  expect(timesText(times.slice(0, 1), { everyMs: 5 }, now).split('\n')).toEqual([
    'UTC                   WHEN',
    '2030-03-30T02:00:00Z  in 2 h',
  ]);
  expect(zoneText(times[0], 'Africa/Abidjan')).toBe('Sat 2030-03-30 02:00:00 +00:00');
  expect(zoneText(times[0], 'Mars/X')).toBeUndefined();
});

test('a list has when, the next and the last fire, and what', () => {
  const paused = schedule({ id: 'p', state: 'paused', nextFireAt: null, lastFireAt: null });

  const rows = scheduleTable([schedule(), paused], undefined, now).split('\n');
  expect(rows.map((row) => row.split(/ {2,}/))).toEqual([
    ['ID', 'STATE', 'WHEN', 'NEXT', 'NEXT (UTC)', 'LAST', 'FIRES', 'WHAT'],
    [
      'nightly',
      'active',
      '0 3 * * * Europe/Berlin',
      'in 2 h',
      '2030-03-30T02:00:00Z',
      '22 h ago',
      '12',
      'task report',
    ],
    ['p', 'paused', '0 3 * * * Europe/Berlin', '-', '-', '-', '12', 'task report'],
  ]);
});

test('fires say how they ended', () => {
  const fired = { scheduledAt: '2030-03-29T02:00:00.000Z', firedAt: '2030-03-29T02:00:00.010Z' };
  const fires = [
    { ...fired, runId: 'r_2', status: 'running', endedAt: null },
    { ...fired, taskId: 't_1', status: 'failed', endedAt: '2030-03-29T02:00:05.010Z' },
  ];

  expect(fireTable(fires, undefined, now).split('\n')).toEqual([
    'SCHEDULED             FIRED     STATUS   TOOK  MADE',
    '2030-03-29T02:00:00Z  22 h ago  running  -     r_2',
    '2030-03-29T02:00:00Z  22 h ago  failed   5 s   t_1',
  ]);
});

test('a schedule is shown with its choices, the last skip, the backfill, times and fires', () => {
  const whole = {
    ...schedule({
      misfire: 'all',
      misfireMax: 7,
      overlap: 'skip',
      jitterMs: 10_000,
      window: { from: '2030-01-01T00:00:00.000Z' },
      tags: { team: 'data' },
      skipCount: 3,
      lastSkip: { scheduledAt: '2030-03-28T02:00:00.000Z', reason: 'overlap' },
      running: [{ taskId: 't_1' }],
      backfill: {
        nextTime: '2030-01-02T02:00:00.000Z',
        until: '2030-01-08T00:00:00.000Z',
        ratePerSec: 10,
        done: 4,
      },
    }),
    nextFires: ['2030-03-30T02:00:00.000Z'],
    lastFires: [],
  };

  expect(scheduleText(whole, { styles, now })).toMatchInlineSnapshot(`
    "schedule     nightly
    state        active
    when         0 3 * * * Europe/Berlin
    what         task report
    input        {"day":"{{scheduledAt}}"}
    misfire      all, at most 7
    overlap      skip
    jitter       up to 10s
    window       from 2030-01-01T00:00:00Z
    tags         team=data
    changed      2030-01-02T00:00:00Z (revision 2)
    fires        12, last 22 h ago; 3 skipped
    last skip    2030-03-28T02:00:00Z: the one before still ran
    running      t_1
    backfill     4 done, next 2030-01-02T02:00:00Z, until 2030-01-08T00:00:00Z, up to 10 per second

    next fires
    Europe/Berlin                   UTC                   WHEN
    Sat 2030-03-30 03:00:00 +01:00  2030-03-30T02:00:00Z  in 2 h"
  `);
});

test('of a fixed delay only the first time is certain', () => {
  const spec = { everyMs: 5000, mode: 'fixedDelay' } as const;
  const nextFires = ['2030-03-30T00:00:05.000Z', '2030-03-30T00:00:10.000Z'];
  const text = scheduleText({ ...schedule({ spec }), nextFires, lastFires: [] }, { styles, now });

  expect(text).toContain('00:00:05');
  expect(text).not.toContain('00:00:10');
});

test('text from outside cannot control the terminal', () => {
  const bad = schedule({ id: 'a\u001b[31m', spec: { cron: '@daily', timeZone: '\u001b' } });

  expect(scheduleTable([bad], undefined, now)).not.toContain('\u001b');
  expect(whenText(bad.spec)).toBe('@daily \\u001b');
  expect(whatText({ run: { workflow: '\u001b' } })).toBe('run \\u001b');
});
