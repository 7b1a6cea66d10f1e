/** A cron pattern in words, as far as it is a usual one. The preview shows the times of any. */

const SHORTHANDS: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
};

const DAYS = [
  'Sunday',
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
  'Sunday',
];
const DAY_NAMES = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const MONTH_NAMES = MONTHS.map((name) => name.slice(0, 3).toUpperCase());

/** Undefined for a pattern that has not five or six fields. */
export function cronWords(cron: string): string | undefined {
  const fields = (SHORTHANDS[cron.trim().toLowerCase()] ?? cron).trim().split(/\s+/);
  if (fields.length < 5 || fields.length > 6) return undefined;
  const [second, minute, hour, day, month, weekday] =
    fields.length === 6 ? fields : ['0', ...fields];
  const days = [dayWords(day), weekdayWords(weekday), monthWords(month)].filter(
    (part) => part !== '',
  );
  return [timeWords(second, minute, hour), ...days].join(' ');
}

function timeWords(second: string, minute: string, hour: string): string {
  const isFixed = [second, minute, hour].every((field) => /^\d+$/.test(field));
  if (isFixed) return `at ${pad(hour)}:${pad(minute)}${second === '0' ? '' : `:${pad(second)}`}`;
  const parts: string[] = [];
  if (second !== '0') parts.push(part(second, 'second'));
  if (minute !== '*' || second === '0') parts.push(part(minute, 'minute'));
  if (hour !== '*') parts.push(hourPart(hour));
  return parts.join(', ');
}

function part(field: string, unit: string): string {
  if (field === '*') return `every ${unit}`;
  const [, step] = /^(?:\*|0)\/(\d+)$/.exec(field) ?? [];
  if (step !== undefined) return step === '1' ? `every ${unit}` : `every ${step} ${unit}s`;
  return unit === 'minute' && /^\d+$/.test(field)
    ? field === '0'
      ? 'every hour'
      : `every hour at minute ${field}`
    : `at ${unit} ${listed(field)}`;
}

function hourPart(hour: string): string {
  const [, step] = /^(?:\*|0)\/(\d+)$/.exec(hour) ?? [];
  if (step !== undefined) return `every ${step} hours`;
  const [, from, to] = /^(\d+)-(\d+)$/.exec(hour) ?? [];
  if (from !== undefined) return `between ${pad(from)}:00 and ${pad(to)}:59`;
  return `in the hours ${listed(hour)}`;
}

function dayWords(day: string): string {
  if (day === '*' || day === '?') return '';
  return day.toUpperCase() === 'L'
    ? 'on the last day of the month'
    : `on day ${listed(day)} of the month`;
}

function weekdayWords(weekday: string): string {
  if (weekday === '*' || weekday === '?') return '';
  return `on ${named(weekday, DAY_NAMES, DAYS, 0)}`;
}

function monthWords(month: string): string {
  return month === '*' ? '' : `in ${named(month, MONTH_NAMES, MONTHS, 1)}`;
}

/** Numbers and short names as whole names: `1-5` as `Monday to Friday`. */
function named(
  field: string,
  short: readonly string[],
  long: readonly string[],
  first: number,
): string {
  const one = (text: string) => {
    const place = short.indexOf(text.toUpperCase());
    return long[place === -1 ? Number(text) - first : place] ?? text;
  };
  const parts = field.split(',').map((each) => each.split('-').map(one).join(' to '));
  return parts.length === 1 ? parts[0] : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}

function listed(field: string): string {
  return field.replaceAll(',', ', ').replaceAll('-', ' to ');
}

function pad(text: string): string {
  return text.padStart(2, '0');
}
