import type { ReadonlyState } from '../../state/state.ts';
import { STEP_DUE } from '../../workflow/run-state.ts';
import type { ListedBranch } from './branches.ts';

/** The list of a dynamic fork that is being read. */
export interface OpenList {
  /** Number of its run. */
  readonly run: number;
  readonly tasksText: string;
  readonly inputsText: string;
  /** Undefined until they are parsed. */
  tasks: readonly unknown[] | undefined;
  inputs: Readonly<Record<string, unknown>> | undefined;
  /** Those that were checked. */
  readonly branches: ListedBranch[];
  /** References that no other branch may have. */
  readonly used: Set<string>;
}

/** They may be large, and a run that was stopped leaves its list here. */
const LISTS_MAX = 4;

/** Lists of dynamic forks that are read in parts, by the slots of the forks. Volatile. */
export class OpenLists {
  private readonly state: ReadonlyState;
  private readonly byFork = new Map<number, OpenList>();

  constructor(state: ReadonlyState) {
    this.state = state;
  }

  find(fork: number, run: number): OpenList | undefined {
    const open = this.byFork.get(fork);
    return open?.run === run ? open : undefined;
  }

  /** False when there are too many, so that the list has to be read at once. */
  keep(fork: number, open: OpenList): boolean {
    if (this.byFork.size >= LISTS_MAX) this.sweep();
    if (this.byFork.size >= LISTS_MAX) return false;
    this.byFork.set(fork, open);
    return true;
  }

  forget(fork: number): void {
    this.byFork.delete(fork);
  }

  /** Steps begin again, maybe with other values. */
  clear(): void {
    this.byFork.clear();
  }

  /** Forks of runs that were stopped will not go on. */
  private sweep(): void {
    const { steps, table } = this.state.runs;
    for (const [fork, { run }] of this.byFork) {
      const isDue = steps.state[fork] === STEP_DUE && table.number[steps.run[fork]] === run;
      if (!isDue) this.byFork.delete(fork);
    }
  }
}
