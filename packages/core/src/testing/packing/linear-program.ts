import { invariant } from '../../base/invariant.ts';

/** Amounts x ≥ 0 are sought with the largest gain · x, where no row · x exceeds its limit. */
export interface LinearProgram {
  readonly rows: readonly (readonly number[])[];
  /** Parallel to `rows`; none is negative, so that x = 0 is allowed. */
  readonly limits: readonly number[];
  readonly gains: readonly number[];
}

export interface Solution {
  readonly gain: number;
  readonly amounts: readonly number[];
  /**
   * What one more of each limit would be worth. Priced so, the limits are worth `gain` together,
   * and no amount gains more than what it uses up is worth: that proves that `gain` is the most.
   */
  readonly prices: readonly number[];
}

const EPSILON = 1e-9;

/** From here on the rule is one under which the steps cannot go round in circles. */
const STEPS_UNTIL_CAREFUL = 2000;

/**
 * The simplex method on a whole tableau. A row of it is a row of the program, then what is left of
 * each limit, then the limit; the last row is the gains, negated, and ends as the prices.
 */
export function maximise({ rows, limits, gains }: LinearProgram): Solution {
  const width = gains.length + rows.length + 1;
  const tableau = rows.map((row, place) => {
    const line = new Float64Array(width);
    line.set(row);
    line[gains.length + place] = 1;
    line[width - 1] = limits[place];
    return line;
  });
  const goal = new Float64Array(width);
  goal.set(gains.map((gain) => -gain));
  /** Which column each row says the amount of; all others are 0. */
  const basis = rows.map((_, place) => gains.length + place);

  for (let step = 0; ; step++) {
    const column = enteringColumn(goal, step >= STEPS_UNTIL_CAREFUL);
    if (column < 0) break;
    const pivot = leavingRow(tableau, basis, column);
    invariant(pivot >= 0, 'what can be gained is limited');
    const line = tableau[pivot];
    const divisor = line[column];
    for (let i = 0; i < width; i++) line[i] /= divisor;
    for (const other of [...tableau, goal]) if (other !== line) clear(other, line, column);
    basis[pivot] = column;
  }

  const amounts = gains.map(() => 0);
  basis.forEach((column, row) => {
    if (column < gains.length) amounts[column] = tableau[row][width - 1];
  });
  const prices = [...goal.subarray(gains.length, width - 1)];
  return { gain: goal[width - 1], amounts, prices };
}

/** The column that gains most, or the first that gains anything; -1 at the optimum. */
function enteringColumn(goal: Float64Array, isCareful: boolean): number {
  let best = -1;
  for (let column = 0; column < goal.length - 1; column++) {
    if (goal[column] > -EPSILON) continue;
    if (best < 0 || goal[column] < goal[best]) best = column;
    if (isCareful) break;
  }
  return best;
}

/** The row that limits the column first; of several, the one whose own column comes first. */
function leavingRow(
  tableau: readonly Float64Array[],
  basis: readonly number[],
  column: number,
): number {
  let best = -1;
  let least = Number.POSITIVE_INFINITY;
  tableau.forEach((line, row) => {
    if (line[column] <= EPSILON) return;
    const most = line[line.length - 1] / line[column];
    if (most > least || (most === least && basis[row] > basis[best])) return;
    best = row;
    least = most;
  });
  return best;
}

/** Takes so much of `line` away from `other` that its column becomes 0. */
function clear(other: Float64Array, line: Float64Array, column: number): void {
  const factor = other[column];
  if (factor === 0) return;
  for (let i = 0; i < line.length; i++) other[i] -= factor * line[i];
}
