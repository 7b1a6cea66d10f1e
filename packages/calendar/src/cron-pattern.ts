/**
 * Cron patterns: what they say, without time zones.
 *
 * Five fields (minute, hour, day of the month, month, day of the week) or six with seconds first.
 * Each is a list of values, ranges and steps: `*`, `5`, `MON-FRI`, `0-59/15`, `10-40/10`, `5/20`.
 * `?` is `*`. Days of the month may be `L` (the last day), `15W` (the weekday nearest to the 15th)
 * and `LW`. Days of the week may be `5L` (the last Friday) and `1#2` (the second Monday). When both
 * fields of days are restricted, a day has to match one of them, as in other crons.
 */
export interface CronPattern {
  readonly seconds: readonly number[];
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  /** Bit n: month n from 1 on. */
  readonly months: number;
  readonly days: DayRule;
  /** Whether every hour counts: such a pattern follows elapsed time when clocks change. */
  readonly isEveryHour: boolean;
}

interface DayRule {
  /** Bit n: day n of the month. */
  readonly ofMonth: number;
  readonly isLast: boolean;
  readonly isLastWeekday: boolean;
  /** Days whose nearest weekday counts. */
  readonly nearest: readonly number[];
  readonly isMonthAny: boolean;
  /** Bit n: day n of the week, 0 for Sunday. */
  readonly ofWeek: number;
  /** Days of the week that count as the last or as the nth of the month; 0 for the last. */
  readonly nth: readonly { readonly day: number; readonly nth: number }[];
  readonly isWeekAny: boolean;
}

/** The pattern cannot be read. The message names the field and what is allowed. */
export class CronError extends Error {
  override readonly name = 'CronError';
}

const SHORTHANDS: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

const MONTHS = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ');
const DAYS = 'SUN MON TUE WED THU FRI SAT'.split(' ');

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const SECOND: Field = { name: 'second', min: 0, max: 59 };
const MINUTE: Field = { name: 'minute', min: 0, max: 59 };
const HOUR: Field = { name: 'hour', min: 0, max: 23 };
const DAY_OF_MONTH: Field = { name: 'day of the month', min: 1, max: 31 };
const MONTH: Field = { name: 'month', min: 1, max: 12, names: ['', ...MONTHS] };
const DAY_OF_WEEK: Field = { name: 'day of the week', min: 0, max: 7, names: DAYS };

/** Patterns that were read lately. Many schedules share one, and each is checked and then used. */
const read = new Map<string, CronPattern>();
const READ_MAX = 10_000;

export function parseCron(text: string): CronPattern {
  const known = read.get(text);
  if (known !== undefined) return known;
  const pattern = readPattern(text);
  if (read.size >= READ_MAX) read.clear();
  read.set(text, pattern);
  return pattern;
}

function readPattern(text: string): CronPattern {
  const trimmed = text.trim();
  const shorthand = trimmed.startsWith('@') ? SHORTHANDS[trimmed.toLowerCase()] : trimmed;
  if (shorthand === undefined) {
    const known = Object.keys(SHORTHANDS).join(', ');
    throw new CronError(`'${trimmed}' is not known; ${known} are`);
  }
  const fields = shorthand.split(/\s+/);
  if (fields.length !== 5 && fields.length !== 6) {
    throw new CronError(
      `it has ${trimmed === '' ? 0 : fields.length} fields; it needs 5 (minute, hour, day of the ` +
        'month, month, day of the week) or 6 (with seconds first)',
    );
  }
  const [second, minute, hour, ofMonth, month, ofWeek] =
    fields.length === 6 ? fields : ['0', ...fields];
  const hours = numbersOf(hour, HOUR);
  const months = numbersOf(month, MONTH);
  const days = { ...monthRule(ofMonth), ...weekRule(ofWeek) };
  if (!hasDay(days, months)) {
    throw new CronError(`there is no day ${ofMonth} in month ${month}, so it would never fire`);
  }
  return {
    seconds: numbersOf(second, SECOND),
    minutes: numbersOf(minute, MINUTE),
    hours,
    months: bits(months),
    days,
    isEveryHour: hours.length === 24,
  };
}

/** False for 30 February and the like: a search for the next time would look at many years. */
function hasDay(days: DayRule, months: readonly number[]): boolean {
  if (!days.isWeekAny || days.isMonthAny || days.isLast || days.isLastWeekday) return true;
  const longest = Math.max(...months.map((month) => LENGTHS[month]));
  const listed = days.nearest.concat(
    DAYS_OF_MONTH.filter((day) => (days.ofMonth & (1 << day)) !== 0),
  );
  return Math.min(...listed) <= longest;
}

/** Days of each month, from 1 on, in a leap year. */
const LENGTHS = [0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const DAYS_OF_MONTH = Array.from({ length: 31 }, (_, index) => index + 1);

function monthRule(
  text: string,
): Pick<DayRule, 'ofMonth' | 'isLast' | 'isLastWeekday' | 'nearest' | 'isMonthAny'> {
  const parts = text.toUpperCase().split(',');
  const nearest = parts.flatMap((part) => {
    const day = /^(\d+)W$/.exec(part)?.[1];
    return day === undefined ? [] : [numberOf(day, DAY_OF_MONTH)];
  });
  const plain = parts.filter((part) => part !== 'L' && part !== 'LW' && !/^\d+W$/.test(part));
  return {
    ofMonth: bits(plain.flatMap((part) => partValues(part, DAY_OF_MONTH))),
    isLast: parts.includes('L'),
    isLastWeekday: parts.includes('LW'),
    nearest,
    isMonthAny: isAny(text),
  };
}

function weekRule(text: string): Pick<DayRule, 'ofWeek' | 'nth' | 'isWeekAny'> {
  const parts = text.toUpperCase().split(',');
  const isNth = /^(\w+)(?:#([1-5])|L)$/;
  const special = parts.filter((part) => isNth.test(part) && !DAYS.includes(part));
  const nth = special.map((part) => {
    const [, day, number] = isNth.exec(part) ?? [];
    return { day: numberOf(day, DAY_OF_WEEK) % 7, nth: Number(number ?? 0) };
  });
  const plain = parts.filter((part) => !special.includes(part));
  const days = plain.flatMap((part) => partValues(part, DAY_OF_WEEK));
  return { ofWeek: bits(days.map((day) => day % 7)), nth, isWeekAny: isAny(text) };
}

function isAny(text: string): boolean {
  return text === '*' || text === '?';
}

function bits(values: readonly number[]): number {
  return values.reduce((sum, value) => sum | (1 << value), 0);
}

function numbersOf(text: string, field: Field): number[] {
  const values = text
    .toUpperCase()
    .split(',')
    .flatMap((part) => partValues(part, field));
  return [...new Set(values)].sort((a, b) => a - b);
}

/** The values of one part of a list: a value, a range, or either with a step. */
function partValues(part: string, field: Field): number[] {
  const [range, stepText, more] = part.split('/');
  if (more !== undefined) throw wrong(part, field);
  const step = stepText === undefined ? 1 : Number(stepText);
  if (!Number.isInteger(step) || step < 1 || step > field.max) {
    throw new CronError(`the step of '${part}' in the ${field.name} is not from 1 to ${field.max}`);
  }
  // As a plain value, day 7 of the week is Sunday; `*` has each day once.
  const max = field === DAY_OF_WEEK ? 6 : field.max;
  let [from, to] = [field.min, max];
  if (!isAny(range)) {
    const [first, last, extra] = range.split('-');
    if (extra !== undefined) throw wrong(part, field);
    from = numberOf(first, field);
    to = last === undefined ? (stepText === undefined ? from : max) : numberOf(last, field);
  }
  if (from > to) {
    throw new CronError(`the range '${range}' in the ${field.name} goes down; write it as two`);
  }
  const values: number[] = [];
  for (let value = from; value <= to; value += step) values.push(value);
  return values;
}

function numberOf(text: string, field: Field): number {
  const named = field.names?.indexOf(text) ?? -1;
  const value = named >= 0 && text !== '' ? named : /^\d{1,2}$/.test(text) ? Number(text) : -1;
  if (value < field.min || value > field.max) throw wrong(text, field);
  return value;
}

function wrong(text: string, { name, min, max, names }: Field): CronError {
  const orNames = names === undefined ? '' : ` or ${names.filter(Boolean).join(', ')}`;
  return new CronError(`'${text}' in the ${name} is not from ${min} to ${max}${orNames}`);
}
