/**
 * A change of a task's state; the first one comes from state -1. States and reasons are the numbers
 * of the core. It is a list because it is stored as it is: with objects, serializing would be most
 * of the time of a row.
 */
export type ChangeRecord = readonly [
  at: number,
  from: number,
  to: number,
  reason: number,
  attempt: number,
  worker: string,
  /** JSON of the input that this retry replaced; absent if the input did not change. */
  inputBefore?: string,
];

/** Maximum numbers kept for a task that is retried forever. Old inputs may be large. */
const CHANGES_KEPT = 400;
const INPUTS_KEPT = 10;

/** Place of the replaced input in a change. */
const INPUT_BEFORE = 6;

export function addChange(changes: ChangeRecord[], change: ChangeRecord): void {
  changes.push(change);
  if (changes.length > CHANGES_KEPT) changes.shift();
}

/** Notes the input that the newest change replaced. */
export function keepInput(changes: ChangeRecord[], before: string): void {
  const last = changes.pop();
  if (last === undefined) return;
  const [at, from, to, reason, attempt, worker] = last;
  changes.push([at, from, to, reason, attempt, worker, before]);
  const places = changes.flatMap(({ length }, place) => (length > INPUT_BEFORE ? [place] : []));
  for (const place of places.slice(0, -INPUTS_KEPT)) {
    changes[place] = changes[place].slice(0, INPUT_BEFORE) as unknown as ChangeRecord;
  }
}
