/** Something that somebody asked for and was answered, with what the answer said. */
export interface Answered<O> {
  readonly what: O;
  readonly invokedAt: number;
  readonly answeredAt: number;
}

/** Something that may have an effect at any time from then on, once, often or never. */
export interface Loose<O> {
  readonly what: O;
  readonly invokedAt: number;
}

/**
 * What one thing does by itself, one operation at a time. `S` stands for all the states in which it
 * may be by what is known: workers and timers move it whenever they like, unseen.
 */
export interface Specification<S, O> {
  readonly initial: S;
  /** All that it may have become by itself, and by what is loose. */
  settle(states: S, loose: readonly O[]): S;
  /** What is left of `states` after an operation that was answered so; undefined for nothing. */
  apply(states: S, what: O): S | undefined;
  /** The same for the same states. */
  keyOf(states: S): string | number;
}

export type Verdict = 'fine' | 'impossible' | 'too long';

/** More operations at the same time than this are not looked at. */
const WINDOW_MAX = 30;

/** So many situations are looked at before giving up. */
const SITUATIONS_MAX = 100_000;

/**
 * Whether operations can have happened one by one, each at a moment between question and answer, so
 * that all answers were right: the search of Wing and Gong, which tries every order that time
 * allows, with Lowe's memory of the situations from which it failed.
 */
export function linearize<S, O>(
  specification: Specification<S, O>,
  answered: readonly Answered<O>[],
  loose: readonly Loose<O>[],
): Verdict {
  const search = new Search(specification, answered, loose);
  return search.run();
}

/** Which operations are done: all before `base`, and those behind it whose bits are set. */
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

  /** Adds all situations that may follow; false when there are more than can be looked at. */
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
    // The last one that is added is tried first: the one that was answered first.
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
