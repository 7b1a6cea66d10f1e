import { visible } from './visible.ts';

/**
 * Rows as aligned columns; numbers are right-aligned. If `columns` is given, texts are cut so that
 * no line is wider than that.
 */
export function table(
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
  columns = Number.POSITIVE_INFINITY,
): string {
  const texts = rows.map((row) => row.map((cell) => short(String(cell), CELL_COLUMNS_MAX)));
  const natural = head.map((title, column) => {
    return Math.max(title.length, ...texts.map((row) => row[column].length));
  });
  const widths = fitted(head, natural, columns);
  const isNumber = head.map((_, column) => {
    return rows.length > 0 && rows.every((row) => typeof row[column] === 'number');
  });
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => {
        const text = short(cell, widths[column]);
        return isNumber[column] ? text.padStart(widths[column]) : text.padEnd(widths[column]);
      })
      .join(GAP)
      .trimEnd();
  return [line(head), ...texts.map(line)].join('\n');
}

export type Cell = string | number;

const GAP = '  ';
const CELL_COLUMNS_MAX = 200;

/** Columns of free text. Others have ids, states and times, which are useless in part. */
const FREE_TEXT = [
  'INPUT',
  'INPUT BEFORE',
  'ERROR',
  'FAILURE',
  'LABELS',
  'NAME',
  'TYPES',
  'URL',
  'WHAT',
];
const FREE_TEXT_MIN = 12;

/** Widths that fit: the widest column of free text is cut first. */
function fitted(head: readonly string[], natural: readonly number[], columns: number): number[] {
  const widths = [...natural];
  let over = widths.reduce((sum, width) => sum + width, GAP.length * (head.length - 1)) - columns;
  const least = head.map((title) => {
    return FREE_TEXT.includes(title) ? Math.max(title.length, FREE_TEXT_MIN) : 0;
  });
  while (over > 0) {
    const spare = widths.map((width, column) => (least[column] === 0 ? 0 : width - least[column]));
    const most = Math.max(...spare);
    // The terminal is too narrow, and wraps the lines.
    if (most <= 0) break;
    widths[widest(widths, spare)] -= 1;
    over -= 1;
  }
  return widths;
}

function widest(widths: readonly number[], spare: readonly number[]): number {
  return widths.reduce((best, width, column) => {
    if (spare[column] <= 0) return best;
    return best < 0 || width > widths[best] ? column : best;
  }, -1);
}

/** A duration for users: `350 ms`, `12 s`, `3 min`, `5 h`, `2 d`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 100) return `${Math.round(seconds)} s`;
  const minutes = seconds / 60;
  if (minutes < 100) return `${Math.round(minutes)} min`;
  const hours = minutes / 60;
  return hours < 48 ? `${Math.round(hours)} h` : `${Math.round(hours / 24)} d`;
}

/** How long ago a time was, for users; a dash for none. */
export function ago(time: string | null, now: number): string {
  return time === null ? '-' : duration(Math.max(0, now - Date.parse(time)));
}

/** One line of at most `columns` columns, without control characters. */
export function short(value: unknown, columns: number): string {
  const whole = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  const text = visible(whole.replaceAll(/\s+/g, ' '));
  return text.length <= columns ? text : `${text.slice(0, Math.max(0, columns - 1))}…`;
}
