/** What the input of a dynamic fork says of its branches. */
export interface BranchList {
  /** Their references begin with it and end with their number; empty when each states its own. */
  readonly prefix: string;
  /** Task type or workflow of all of them; empty when each states its own. */
  readonly name: string;
  /** Version of the workflow that each of them runs, 0 for the newest; undefined for tasks. */
  readonly workflow: number | undefined;
  /** Start of the element of each branch, counted from the start of the input. */
  readonly starts: Uint32Array;
}

/** Bound on the branches whose places are known, of all forks together. */
const KNOWN_MAX = 2 ** 20;

/**
 * Where the inputs of dynamic forks have their branches, so that a branch is found without reading
 * the list before it. Volatile: what is missing is found out again.
 */
export class BranchLists {
  private readonly byFork = new Map<number, BranchList>();
  private known = 0;

  /** Of the fork in this slot. */
  of(fork: number, read: () => BranchList): BranchList {
    let list = this.byFork.get(fork);
    if (list !== undefined) return list;
    list = read();
    if (this.known + list.starts.length > KNOWN_MAX) this.clear();
    this.byFork.set(fork, list);
    this.known += list.starts.length;
    return list;
  }

  /** Another fork begins in this slot. */
  forget(fork: number): void {
    this.known -= this.byFork.get(fork)?.starts.length ?? 0;
    this.byFork.delete(fork);
  }

  private clear(): void {
    this.byFork.clear();
    this.known = 0;
  }
}
