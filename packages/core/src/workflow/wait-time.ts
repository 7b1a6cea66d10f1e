/** What a WAIT may say, for messages. */
export const WAIT_FORMS = {
  duration: 'a text such as "90s", "1 hour 30 minutes", "2 days" or "500ms", of at most 100 years',
  until: 'a time such as "2026-11-20T10:00:00Z", "2026-11-20 10:00" (UTC) or "2026-11-20"',
} as const;

const YEARS_100 = 3_155_760_000_000;
/** The last millisecond of the year 9999. */
const TIME_MAX = 253_402_300_799_999;

/** In the order in which they are written. */
const UNITS: readonly (readonly [names: RegExp, ms: number])[] = [
  [/^(?:d|days?)$/, 86_400_000],
  [/^(?:h|hrs?|hours?)$/, 3_600_000],
  [/^(?:m|mins?|minutes?)$/, 60_000],
  [/^(?:s|secs?|seconds?)$/, 1000],
  [/^(?:ms|milliseconds?)$/, 1],
];

/**
 * When a WAIT is over: 0 when it waits for a call, undefined when its input cannot be read.
 */
export function waitUntil(
  { duration, until }: { readonly duration?: unknown; readonly until?: unknown },
  now: number,
): number | undefined {
  if (duration !== undefined && duration !== null) {
    const ms = typeof duration === 'string' ? durationMs(duration) : undefined;
    return ms === undefined || ms > YEARS_100 ? undefined : now + ms;
  }
  if (until === undefined || until === null) return 0;
  const at = typeof until === 'string' ? timeOf(until) : undefined;
  return at === undefined || !(at > 0) || at > TIME_MAX ? undefined : at;
}

function durationMs(text: string): number | undefined {
  const parts = [
    ...text
      .trim()
      .toLowerCase()
      .matchAll(/(\d{1,12})\s*([a-z]+)\s*/g),
  ];
  const whole = parts.map(([part]) => part).join('');
  if (parts.length === 0 || whole !== text.trim().toLowerCase()) return undefined;
  let sum = 0;
  let last = -1;
  for (const [, count, name] of parts) {
    const unit = UNITS.findIndex(([names]) => names.test(name));
    if (unit <= last) return undefined;
    last = unit;
    sum += Number(count) * UNITS[unit][1];
  }
  return sum;
}

const TIME =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?) ?(Z|UTC|GMT|[+-]\d\d:\d\d)?)?$/;

/** Without a zone the time is UTC. */
function timeOf(text: string): number | undefined {
  const [, day, time = '00:00', zone = 'Z'] = TIME.exec(text.trim()) ?? [];
  if (day === undefined) return undefined;
  const at = Date.parse(`${day}T${time}${zone === 'UTC' || zone === 'GMT' ? 'Z' : zone}`);
  const midnight = Date.parse(`${day}T00:00Z`);
  if (Number.isNaN(at) || Number.isNaN(midnight)) return undefined;
  // A day such as 30 February moves into the next month.
  return new Date(midnight).toISOString().startsWith(day) ? at : undefined;
}
