import type { Fire, Schedule, ScheduleSpec } from '../api/answers.ts';
import { type Styles, stateText } from '../screen/styles.ts';
import { ago, duration, short, table } from '../screen/table.ts';
import { visible } from '../screen/visible.ts';

const INPUT_COLUMNS_MAX = 500;
const NAME_COLUMNS = 13;

/** When a schedule fires, in a few words. */
export function whenText(spec: ScheduleSpec): string {
  if ('cron' in spec) return visible(`${spec.cron} ${spec.timeZone ?? 'UTC'}`);
  if ('at' in spec) return `at ${utcText(spec.at)}`;
  if ('permanent' in spec) {
    const { replicas = 1 } = spec;
    return replicas === 1 ? '1 replica' : `${replicas} replicas`;
  }
  const period = spanText(spec.everyMs);
  return spec.mode === 'fixedDelay' ? `${period} after the last end` : `every ${period}`;
}

/** What a schedule makes, in a few words. */
export function whatText({ task, run }: Pick<Schedule, 'task' | 'run'>): string {
  if (task?.exec !== undefined) return visible(programText(task.exec));
  if (task !== undefined) return visible(`task ${task.type}`);
  const { workflow = '', version } = run ?? {};
  return visible(`run ${workflow}${version === undefined ? '' : ` (version ${version})`}`);
}

type Exec = NonNullable<NonNullable<Schedule['task']>['exec']>;

function programText(exec: Exec): string {
  if ('command' in exec) return `command ${exec.command.join(' ')}`;
  return ['container', exec.image, ...(exec.args ?? [])].join(' ');
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const;

/** An exact period as `--every` takes it: `90s`, `1d`. */
function spanText(ms: number): string {
  const [unit, size] = UNITS.find((each) => ms % each[1] === 0) ?? ['ms', 1];
  return `${ms / size}${unit}`;
}

/** A time in UTC, without milliseconds where there are none. */
export function utcText(time: string | number): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return visible(String(time));
  return date.toISOString().replace('.000Z', 'Z');
}

/** A time as clocks in the zone show it; undefined if this computer does not know the zone. */
export function zoneText(time: string, timeZone: string): string | undefined {
  try {
    const format = new Intl.DateTimeFormat('en-GB', { ...ZONE_FORMAT, timeZone });
    const parts = format.formatToParts(new Date(time)).map(({ type, value }) => [type, value]);
    const { year, month, day, weekday, hour, minute, second, timeZoneName } =
      Object.fromEntries(parts);
    const offset = timeZoneName === 'GMT' ? '+00:00' : timeZoneName.replace('GMT', '');
    return `${weekday} ${year}-${month}-${day} ${hour}:${minute}:${second} ${offset}`;
  } catch {
    return undefined;
  }
}

const ZONE_FORMAT = {
  weekday: 'short',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'longOffset',
} as const;

/** Times with how far they are away, in UTC and in the zone of the schedule. */
export function timesText(
  times: readonly string[],
  spec: ScheduleSpec,
  now: number = Date.now(),
): string {
  const zone = 'cron' in spec ? (spec.timeZone ?? 'UTC') : 'UTC';
  const local = zone === 'UTC' ? [] : times.map((time) => zoneText(time, zone) ?? '-');
  const rows = times.map((time, place) => {
    const start = local.length === 0 ? [] : [local[place]];
    return [...start, utcText(time), distance(time, now)];
  });
  return table([...(local.length === 0 ? [] : [zone]), 'UTC', 'WHEN'], rows);
}

/** With a fixed delay, all times but the first depend on when the work ends. */
export function certainTimes(times: readonly string[], spec: ScheduleSpec): readonly string[] {
  return 'everyMs' in spec && spec.mode === 'fixedDelay' ? times.slice(0, 1) : times;
}

/** `in 7 h`, or `2 min ago`. */
export function distance(time: string, now: number): string {
  const ms = Date.parse(time) - now;
  return ms < 0 ? `${duration(-ms)} ago` : `in ${duration(ms)}`;
}

export function scheduleTable(
  schedules: readonly Schedule[],
  columns?: number,
  now = Date.now(),
): string {
  return table(
    ['ID', 'STATE', 'WHEN', 'NEXT', 'NEXT (UTC)', 'LAST', 'FIRES', 'WHAT'],
    schedules.map((each) => [
      each.id,
      each.state,
      whenText(each.spec),
      each.nextFireAt === null ? '-' : distance(each.nextFireAt, now),
      each.nextFireAt === null ? '-' : utcText(each.nextFireAt),
      each.lastFireAt === null ? '-' : `${ago(each.lastFireAt, now)} ago`,
      each.fireCount,
      whatText(each),
    ]),
    columns,
  );
}

export function fireTable(fires: readonly Fire[], columns?: number, now = Date.now()): string {
  return table(
    ['SCHEDULED', 'FIRED', 'STATUS', 'TOOK', 'MADE'],
    fires.map(({ scheduledAt, firedAt, status, endedAt, taskId, runId }) => [
      utcText(scheduledAt),
      `${ago(firedAt, now)} ago`,
      status,
      endedAt === null ? '-' : duration(Math.max(0, Date.parse(endedAt) - Date.parse(firedAt))),
      taskId ?? runId ?? '-',
    ]),
    columns,
  );
}

/** A schedule with its next times and its last fires. */
export interface WholeSchedule extends Schedule {
  readonly nextFires: readonly string[];
  readonly lastFires: readonly Fire[];
}

interface Shown {
  readonly styles: Styles;
  readonly now?: number;
}

export function scheduleText(schedule: WholeSchedule, { styles, now = Date.now() }: Shown): string {
  const { id, state, spec, lastFires, running } = schedule;
  const nextFires = certainTimes(schedule.nextFires, spec);
  const next = state === 'paused' ? 'next fires if it is resumed' : 'next fires';
  const rows: (readonly [string, string])[] = [
    ['schedule', styles.bold(visible(id))],
    ['state', stateText(state, styles)],
    ['when', whenText(spec)],
    ['what', whatText(schedule)],
    ['input', short((schedule.task ?? schedule.run)?.input ?? null, INPUT_COLUMNS_MAX)],
    ...choiceRows(schedule),
    ['changed', `${utcText(schedule.changedAt)} (revision ${schedule.revision})`],
    ['fires', countText(schedule, now)],
    ...skipRows(schedule),
    ...(running.length === 0
      ? []
      : [['running', running.map(({ taskId, runId }) => taskId ?? runId).join(' ')] as const]),
    ...backfillRows(schedule),
  ];
  const parts = [
    rows.map(([name, text]) => `${styles.dim(name.padEnd(NAME_COLUMNS))}${text}`).join('\n'),
    ...(nextFires.length === 0 ? [] : [`${next}\n${timesText(nextFires, spec, now)}`]),
    ...(lastFires.length === 0 ? [] : [`last fires\n${fireTable(lastFires, undefined, now)}`]),
  ];
  return parts.join('\n\n');
}

function countText({ fireCount, skipCount, lastFireAt }: Schedule, now: number): string {
  const last = lastFireAt === null ? '' : `, last ${ago(lastFireAt, now)} ago`;
  return `${fireCount}${last}${skipCount === 0 ? '' : `; ${skipCount} skipped`}`;
}

function choiceRows(schedule: Schedule): (readonly [string, string])[] {
  const { misfire = 'once', misfireMax, overlap = 'allow', jitterMs = 0, window, tags } = schedule;
  const texts = Object.entries(tags ?? {}).map(([name, value]) => visible(`${name}=${value}`));
  const { from, to } = window ?? {};
  const bounds = [
    ...(from === undefined ? [] : [`from ${utcText(from)}`]),
    ...(to === undefined ? [] : [`to ${utcText(to)}`]),
  ];
  const isPermanent = 'permanent' in schedule.spec;
  const most = misfireMax === undefined ? '' : `, at most ${misfireMax}`;
  return [
    ...(isPermanent ? [] : [['misfire', `${misfire}${most}`] as const]),
    ...(isPermanent ? [] : [['overlap', overlap] as const]),
    ...(jitterMs === 0 ? [] : [['jitter', `up to ${spanText(jitterMs)}`] as const]),
    ...(bounds.length === 0 ? [] : [['window', bounds.join(' ')] as const]),
    ...(texts.length === 0 ? [] : [['tags', texts.join(' ')] as const]),
  ];
}

/** Why a time made nothing. */
const SKIPPED: Readonly<Record<string, string>> = {
  misfire: 'it was missed, as after an outage',
  overlap: 'the one before still ran',
  no_room: 'memory was full',
  quota_exceeded: 'the quota of the namespace was used up',
  workflow_not_found: 'its workflow was not registered',
  unfit_input: 'its input does not fit its workflow',
};

function skipRows({ lastSkip }: Schedule): (readonly [string, string])[] {
  if (lastSkip === null) return [];
  const { scheduledAt, reason } = lastSkip;
  return [['last skip', `${utcText(scheduledAt)}: ${SKIPPED[reason] ?? visible(reason)}`]];
}

function backfillRows({ backfill }: Schedule): (readonly [string, string])[] {
  if (backfill === null) return [];
  const { done, nextTime, until, ratePerSec } = backfill;
  const next = nextTime === null ? '' : `, next ${utcText(nextTime)}`;
  return [
    ['backfill', `${done} done${next}, until ${utcText(until)}, up to ${ratePerSec} per second`],
  ];
}
