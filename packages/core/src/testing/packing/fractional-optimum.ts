import { maximise } from './linear-program.ts';

/** Workers, and the tasks that wait for them; amounts are by kind, in the same order everywhere. */
export interface Mix {
  /** What each worker offers. */
  readonly offers: readonly (readonly number[])[];
  /** What a task of each shape needs. */
  readonly needs: readonly (readonly number[])[];
  /** Which part of all tasks is of each shape; together 1. */
  readonly parts: readonly number[];
}

export interface Optimum {
  /** So many tasks at once. */
  readonly tasks: number;
  /** What a task of each shape counts, beside 1 for a task of the mix on average. */
  readonly values: readonly number[];
}

/**
 * The most tasks of a mix that the workers could run at once if a task could be cut to pieces, and
 * every piece run wherever there is room, whatever came first.
 *
 * The shapes run in the proportions in which they come. An optimum without that rule would leave
 * most shapes waiting for ever and run the few that go together best; no scheduler that runs
 * everything it accepted could follow it.
 *
 * Schedulers do not run the mix exactly, so tasks are counted by what they use up, at the prices of
 * the linear program: a kind that is scarce on a worker is dear, one that is left over is free, and
 * a task is worth what it costs on the worker on which it is cheapest. Whatever tasks the workers
 * run, of whichever shapes, they are worth `tasks` together at the most (weak duality). So nobody
 * gets a better mark by leaving the awkward ones to wait.
 */
export function fractionalOptimum({ offers, needs, parts }: Mix): Optimum {
  const rows: number[][] = [];
  const limits: number[] = [];
  /** Columns: how many of each shape on each worker, and then how many of the whole mix. */
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
