import { visible } from './visible.ts';

/** Rows as aligned columns; numbers are right-aligned. */
export function table(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const texts = rows.map((row) => row.map((cell) => short(String(cell), CELL_COLUMNS_MAX)));
  const widths = head.map((title, column) => {
    return Math.max(title.length, ...texts.map((row) => row[column].length));
  });
  const isNumber = head.map((_, column) => {
    return rows.length > 0 && rows.every((row) => typeof row[column] === 'number');
  });
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => {
        return isNumber[column] ? cell.padStart(widths[column]) : cell.padEnd(widths[column]);
      })
      .join('  ')
      .trimEnd();
  return [line(head), ...texts.map(line)].join('\n');
}

export type Cell = string | number;

const CELL_COLUMNS_MAX = 200;

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
