import { maximise } from './linear-program.ts';

/** Workers and the tasks that wait for them. Amounts are by kind, in the same order everywhere. */
export interface Mix {
  /** What each worker offers. */
  readonly offers: readonly (readonly number[])[];
  /** What a task of each shape needs. */
  readonly needs: readonly (readonly number[])[];
  /** The fraction of tasks of each shape; the sum is 1. */
  readonly parts: readonly number[];
}

export interface Optimum {
  /** Number of tasks that run at once. */
  readonly tasks: number;
  /** The value of a task of each shape; the average over the mix is 1. */
  readonly values: readonly number[];
}

/**
 * The maximum number of tasks of a mix that the workers could run at once if tasks could be split
 * into pieces and run anywhere, in any order.
 *
 * The shapes run in the proportions in which they arrive. Without that rule an optimum would run
 * the few shapes that fit together best and leave most shapes waiting for ever. No scheduler that
 * runs everything it accepted could follow it.
 *
 * Schedulers do not run the mix exactly, so tasks are counted by what they use, at the prices of
 * the linear program: a kind that is scarce on a worker is expensive, one that is left over is
 * free, and a task is worth its cost on the worker where it is cheapest. Whatever tasks the workers
 * run, of any shapes, their total worth is at most `tasks` (weak duality). So a scheduler gets no
 * better score by leaving difficult tasks to wait.
 */
export function fractionalOptimum({ offers, needs, parts }: Mix): Optimum {
  const rows: number[][] = [];
  const limits: number[] = [];
  /** Columns: how many of each shape on each worker, then how many of the whole mix. */
  const columnOf = (worker: number, shape: number) => worker * needs.length + shape;
  const total = offers.length * needs.length;
  const emptyRow = () => new Array<number>(total + 1).fill(0);

  needs.forEach((_, shape) => {
    const row = emptyRow();
    offers.forEach((_, worker) => {
      row[columnOf(worker, shape)] = -1;
    });
    row[total] = parts[shape];
    rows.push(row);
    limits.push(0);
  });
  offers.forEach((offer, worker) => {
    offer.forEach((offered, kind) => {
      const row = emptyRow();
      needs.forEach((need, shape) => {
        row[columnOf(worker, shape)] = need[kind] / offered;
      });
      rows.push(row);
      limits.push(1);
    });
  });

  const gains = emptyRow();
  gains[total] = 1;
  const { gain, prices } = maximise({ rows, limits, gains });
  return { tasks: gain, values: prices.slice(0, needs.length) };
}
