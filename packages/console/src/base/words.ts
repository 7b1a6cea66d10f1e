/** Numbers, times and sizes as people read them. */

const COUNT = new Intl.NumberFormat('en');
const SHORT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

export function count(value: number): string {
  return COUNT.format(value);
}

export function shortCount(value: number): string {
  return value < 10_000 ? COUNT.format(Math.round(value * 10) / 10) : SHORT.format(value);
}

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const;

/** A duration with two units at most: `2 h 5 min`, `1.4 s`, `35 ms`. */
export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return '–';
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const first = UNITS.findIndex(([, size]) => ms >= size);
  const [name, size] = UNITS[first];
  const next = UNITS[first + 1];
  const rest = next === undefined ? 0 : Math.floor((ms % size) / next[1]);
  const whole = `${Math.floor(ms / size)} ${name}`;
  return rest === 0 || next === undefined ? whole : `${whole} ${rest} ${next[0]}`;
}

/** How long ago, or in how long. */
export function relative(at: number, now: number): string {
  const ms = Math.abs(now - at);
  if (ms < 1500) return 'now';
  const text = duration(ms < 60_000 ? Math.round(ms / 1000) * 1000 : ms).replace('.0', '');
  return at < now ? `${text} ago` : `in ${text}`;
}

const LOCAL = new Intl.DateTimeFormat('en-GB', {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

export function localTime(at: number): string {
  return LOCAL.format(at);
}

const CLOCK = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

export function clockTime(at: number): string {
  return CLOCK.format(at);
}

export function utcTime(at: number): string {
  return `${new Date(at).toISOString().replace('T', ' ').slice(0, 19)} UTC`;
}

export function bytes(value: number): string {
  if (value < 1024) return `${value} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(units.length, Math.floor(Math.log2(value) / 10));
  const size = value / 1024 ** power;
  return `${size.toFixed(size < 9.95 ? 1 : 0)} ${units[power - 1]}`;
}

/** `timed_out` as `timed out`. */
export function words(name: string): string {
  return name.replaceAll('_', ' ');
}
