import { invariant } from '../../base/invariant.ts';

/** Finds amounts x ≥ 0 with the largest gain · x, where no row · x exceeds its limit. */
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
   * What one more unit of each limit would be worth. At these prices the limits are worth `gain`
   * together, and no amount gains more than the worth of what it uses. That proves that `gain` is
   * the maximum.
   */
  readonly prices: readonly number[];
}

const EPSILON = 1e-9;

/** After this many steps, a rule is used that cannot cycle. */
const STEPS_UNTIL_CAREFUL = 2000;

/**
 * The simplex method on a full tableau. A row consists of a row of the program, the slack of each
 * limit, and the limit. The last row holds the negated gains and ends as the prices.
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
  /** The column whose amount each row holds; all other amounts are 0. */
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

/** The column with the largest gain, or the first with any gain; -1 at the optimum. */
function enteringColumn(goal: Float64Array, isCareful: boolean): number {
  let best = -1;
  for (let column = 0; column < goal.length - 1; column++) {
    if (goal[column] > -EPSILON) continue;
    if (best < 0 || goal[column] < goal[best]) best = column;
    if (isCareful) break;
  }
  return best;
}

/** The row that limits the column first; on a tie, the one whose basis column comes first. */
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

/** Subtracts a multiple of `line` from `other`, so that its column becomes 0. */
function clear(other: Float64Array, line: Float64Array, column: number): void {
  const factor = other[column];
  if (factor === 0) return;
  for (let i = 0; i < line.length; i++) other[i] -= factor * line[i];
}
