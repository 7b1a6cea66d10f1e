/** Notes when something happened, on the clock that all processes of a machine share. */
import { writeFileSync } from 'node:fs';

/** A name, and microseconds since the machine started. */
export type Mark = readonly [name: string, us: number];

const marks: Mark[] = [];

export function mark(name: string): void {
  marks.push([name, Number(process.hrtime.bigint()) / 1000]);
}

/** Writes them to this file. */
export function saveMarks(path: string): void {
  writeFileSync(path, JSON.stringify(marks));
}

/** Calls `before` with the arguments, and `after` when the method has returned. */
export function watchMethod<T extends object, K extends keyof T>(
  target: T,
  name: K,
  { before, after }: { before?: (args: unknown[]) => void; after?: (args: unknown[]) => void },
): void {
  const original = target[name] as (...args: unknown[]) => unknown;
  const watched = function (this: unknown, ...args: unknown[]): unknown {
    before?.(args);
    const value = original.apply(this, args);
    after?.(args);
    return value;
  };
  target[name] = watched as T[K];
}
