/** An operation that was answered, with what the answer said. */
export interface Answered<O> {
  readonly what: O;
  readonly invokedAt: number;
  readonly answeredAt: number;
}

/** An operation that may take effect at any time after its request: once, repeatedly or never. */
export interface Loose<O> {
  readonly what: O;
  readonly invokedAt: number;
}

/**
 * How one object behaves when operations run one at a time. `S` is the set of all states in which
 * the object may be. Workers and timers may change the object between operations, unseen by
 * clients.
 */
export interface Specification<S, O> {
  readonly initial: S;
  /**
   * All states that may follow without an answered operation: by workers, timers or loose
   * operations.
   */
  settle(states: S, loose: readonly O[]): S;
  /** The states that remain after an operation with this answer; undefined when there are none. */
  apply(states: S, what: O): S | undefined;
  /** Equal for equal sets of states. */
  keyOf(states: S): string | number;
}

export type Verdict = 'fine' | 'impossible' | 'too long';

/** The search gives up when more operations than this overlap. */
const WINDOW_MAX = 30;

/** Maximum number of situations that the search visits before it gives up. */
const SITUATIONS_MAX = 100_000;

/**
 * Whether there is an order of the operations in which every answer is right. Each operation takes
 * effect at one moment between its request and its answer. This is the algorithm of Wing and Gong,
 * which tries every order that the times allow, with Lowe's cache of failed situations.
 */
export function linearize<S, O>(
  specification: Specification<S, O>,
  answered: readonly Answered<O>[],
  loose: readonly Loose<O>[],
): Verdict {
  const search = new Search(specification, answered, loose);
  return search.run();
}

/** Which operations are done: all before `base`, and after it those whose bits are set. */
interface Situation<S> {
  readonly base: number;
  readonly done: number;
  readonly states: S;
}

class Search<S, O> {
  private readonly specification: Specification<S, O>;
  private readonly operations: readonly Answered<O>[];
  private readonly loose: readonly Loose<O>[];
  private readonly seen = new Set<string>();
  private readonly open: Situation<S>[] = [];

  constructor(
    specification: Specification<S, O>,
    answered: readonly Answered<O>[],
    loose: readonly Loose<O>[],
  ) {
    this.specification = specification;
    this.operations = answered.toSorted((a, b) => a.invokedAt - b.invokedAt);
    this.loose = loose.toSorted((a, b) => a.invokedAt - b.invokedAt);
    this.open.push({ base: 0, done: 0, states: specification.initial });
  }

  run(): Verdict {
    for (;;) {
      const situation = this.open.pop();
      if (situation === undefined) return 'impossible';
      if (situation.base === this.operations.length) return 'fine';
      if (this.seen.size > SITUATIONS_MAX || !this.goOn(situation)) return 'too long';
    }
  }

  /** Adds all situations that may follow; false when the window of operations is too large. */
  private goOn({ base, done, states }: Situation<S>): boolean {
    const { operations, specification } = this;
    const waiting: number[] = [];
    let firstAnswer = Number.POSITIVE_INFINITY;
    for (let place = base; place < operations.length; place++) {
      const { invokedAt, answeredAt } = operations[place];
      if (invokedAt > firstAnswer) break;
      if (place - base >= WINDOW_MAX) return false;
      if ((done & (1 << (place - base))) !== 0) continue;
      waiting.push(place);
      firstAnswer = Math.min(firstAnswer, answeredAt);
    }
    const settled = specification.settle(states, this.looseBefore(firstAnswer));
    // The stack pops the operation that was added last: the one that was answered first.
    waiting.sort((a, b) => operations[b].answeredAt - operations[a].answeredAt);
    for (const place of waiting) {
      if (operations[place].invokedAt > firstAnswer) continue;
      const after = specification.apply(settled, operations[place].what);
      if (after !== undefined) this.add(base, done | (1 << (place - base)), after);
    }
    return true;
  }

  private looseBefore(time: number): readonly O[] {
    const count = this.loose.findIndex(({ invokedAt }) => invokedAt > time);
    return this.loose.slice(0, count < 0 ? undefined : count).map(({ what }) => what);
  }

  private add(base: number, done: number, states: S): void {
    let shift = 0;
    while ((done & (1 << shift)) !== 0) shift += 1;
    const situation = { base: base + shift, done: done >>> shift, states };
    const key = `${situation.base} ${situation.done} ${this.specification.keyOf(states)}`;
    if (this.seen.has(key)) return;
    this.seen.add(key);
    this.open.push(situation);
  }
}
