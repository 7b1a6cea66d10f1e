import { isLater, type Outline } from './outline.ts';
import type { Problems } from './problems.ts';

/** How one step leads to others. */
export interface Links {
  nexts: readonly number[];
  arrivals: number;
  members: readonly number[];
  cases: Map<string, readonly number[]>;
  otherwise: readonly number[];
  lastOfCases: Map<string, number>;
  lastOtherwise: number;
  joinsFork: number;
}

export const NO_PLACE = -1;

/**
 * Finds out what follows each step.
 *
 * After a step comes its sibling. After the last step of a case comes what follows the SWITCH,
 * after the last step of a body its loop, and after a member of a join the JOIN. A member inside a
 * SWITCH, a loop or an inner fork is lifted to its branch: what counts is that the SWITCH, the loop
 * or the inner JOIN is over. So no join waits for a case that was not taken. All members arrive at
 * an EXCLUSIVE_JOIN, and the first arrival counts.
 */
export class GraphBuilder {
  readonly links: Links[];
  private readonly problems: Problems;
  private readonly byReference: ReadonlyMap<unknown, Outline>;

  constructor(steps: readonly Outline[], problems: Problems) {
    this.problems = problems;
    this.byReference = new Map(steps.map((step) => [step.reference, step]));
    this.links = steps.map(() => ({
      nexts: [],
      arrivals: 1,
      members: [],
      cases: new Map(),
      otherwise: [],
      lastOfCases: new Map(),
      lastOtherwise: NO_PLACE,
      joinsFork: NO_PLACE,
    }));
  }

  /**
   * Links the steps of a list. `after` is what follows the list; `joined` has the steps that also
   * arrive at a JOIN, by place.
   */
  list(steps: readonly Outline[], after: readonly number[], joined?: ReadonlyMap<number, number>) {
    steps.forEach((step, index) => {
      const sibling = steps[index + 1];
      const join = joined?.get(step.place);
      const then = sibling === undefined ? after : [sibling.place];
      const follows = join === undefined ? then : [...then, join];
      this.step(step, sibling, follows);
      if (step.kind === 'JOIN' && !isFork(steps[index - 1])) {
        const what = 'a JOIN must stand directly behind a FORK_JOIN or a FORK_JOIN_DYNAMIC';
        this.problems.add(step.path, 'join_without_fork', what);
      }
      if (step.kind === 'EXCLUSIVE_JOIN' && steps[index - 1]?.kind !== 'FORK_JOIN') {
        this.exclusive(step);
      }
      if (step.kind === 'TERMINATE' && sibling !== undefined) {
        const what = 'is never reached: the TERMINATE before it ends the run';
        this.problems.add(sibling.path, 'unreachable_step', `"${sibling.reference}" ${what}`);
      }
    });
  }

  private step(step: Outline, sibling: Outline | undefined, follows: readonly number[]): void {
    const links = this.links[step.place];
    if (step.kind === 'SWITCH') return this.cases(step, follows);
    if (step.kind === 'FORK_JOIN') return this.fork(step, sibling);
    if (step.kind === 'FORK_JOIN_DYNAMIC') return this.dynamicFork(step, sibling);
    // The end of the body leads back to the loop, which then decides.
    if (step.kind === 'DO_WHILE') this.list(step.branches[0] ?? [], [step.place]);
    links.nexts = step.kind === 'TERMINATE' ? [] : follows;
  }

  private cases(step: Outline, follows: readonly number[]): void {
    const links = this.links[step.place];
    step.branches.forEach((branch, index) => {
      const name = step.caseNames[index];
      const target = branch.length === 0 ? follows : [branch[0].place];
      const last = branch.at(-1)?.place ?? NO_PLACE;
      if (name === undefined) {
        links.otherwise = target;
        links.lastOtherwise = last;
      } else {
        links.cases.set(name, target);
        links.lastOfCases.set(name, last);
      }
      this.list(branch, follows);
    });
  }

  private fork(step: Outline, join: Outline | undefined): void {
    const links = this.links[step.place];
    links.nexts = step.branches.flatMap(([first]) => (first === undefined ? [] : [first.place]));
    if (join?.kind !== 'JOIN' && join?.kind !== 'EXCLUSIVE_JOIN') {
      const what = `the step behind the FORK_JOIN "${step.reference}" must be a JOIN`;
      this.problems.add(step.path, 'fork_without_join', what);
      for (const branch of step.branches) this.list(branch, []);
      return;
    }
    const members = this.members(step, join);
    const lifted = new Set<number>();
    for (const branch of step.branches) {
      const joined = new Map<number, number>();
      for (const member of members) {
        const place = lift(branch, member);
        if (place === NO_PLACE) continue;
        joined.set(place, join.place);
        lifted.add(place);
      }
      this.list(branch, [], joined);
    }
    this.checkBranches(step, join, lifted);
    const isExclusive = join.kind === 'EXCLUSIVE_JOIN';
    this.links[join.place].arrivals = isExclusive ? 1 : lifted.size;
    const others = isExclusive ? this.named(join, 'defaultExclusiveJoinTask') : [];
    this.links[join.place].members = [...members, ...others].map(({ place }) => place);
  }

  /** A fork without branches leads to its join. Otherwise the join waits for all branches. */
  private dynamicFork(step: Outline, join: Outline | undefined): void {
    if (join?.kind !== 'JOIN') {
      const what = `the step behind the FORK_JOIN_DYNAMIC "${step.reference}" must be a JOIN`;
      this.problems.add(step.path, 'fork_without_join', what);
      return;
    }
    const [[branch]] = step.branches;
    this.links[step.place].nexts = [join.place];
    this.links[branch.place].nexts = [join.place];
    this.links[branch.place].arrivals = 0;
    this.links[join.place].joinsFork = step.place;
  }

  /** The next iteration begins when the body is over, so nothing of the body may still run then. */
  private checkBranches(step: Outline, join: Outline, joined: ReadonlySet<number>): void {
    if (step.scope === 0) return;
    if (join.kind === 'EXCLUSIVE_JOIN') {
      const what = 'in a loop a fork needs a JOIN: an EXCLUSIVE_JOIN would leave branches running';
      this.problems.add(join.path, 'open_branch', what);
      return;
    }
    const open = step.branches.find((branch) => !joined.has(branch.at(-1)?.place ?? NO_PLACE));
    if (open === undefined) return;
    const last = open.at(-1)?.reference;
    const what = `in a loop a JOIN waits for every branch; add "${last}", or leave joinOn empty`;
    this.problems.add(`${join.path}/joinOn`, 'open_branch', what);
  }

  /** Without a fork in front of it, an EXCLUSIVE_JOIN takes one of any steps that come before. */
  private exclusive(join: Outline): void {
    const members = this.named(join, 'joinOn');
    const others = this.named(join, 'defaultExclusiveJoinTask');
    this.links[join.place].members = [...members, ...others].map(({ place }) => place);
    const { joinOn = [] } = join.value;
    if (!Array.isArray(joinOn) || joinOn.length > 0) return;
    const what = 'an EXCLUSIVE_JOIN needs joinOn, unless it stands directly behind a FORK_JOIN';
    this.problems.add(`${join.path}/joinOn`, 'missing_field', what);
  }

  /** The steps before the join that one of its fields names. */
  private named(join: Outline, field: string): Outline[] {
    return this.problems.array(join, field).flatMap((name, index) => {
      const step = name === '' ? undefined : this.byReference.get(name);
      if (step !== undefined && step !== join && !isLater(step, join)) return step;
      const why = step === undefined ? 'is no step of this definition' : 'does not come before it';
      const path = `${join.path}/${field}/${index}`;
      this.problems.add(path, 'join_member_unknown', `"${String(name)}" ${why}`);
      return [];
    });
  }

  /** An empty `joinOn` means the last step of every branch. */
  private members(step: Outline, join: Outline): Outline[] {
    const names = this.problems.array(join, 'joinOn');
    if (names.length === 0) return step.branches.flatMap((branch) => branch.at(-1) ?? []);
    const inside = new Map(step.branches.flatMap(flatten).map((each) => [each.reference, each]));
    return [...new Set(names)].flatMap((name) => {
      const member = inside.get(String(name));
      if (member !== undefined) return member;
      const index = names.indexOf(name);
      const what = `"${String(name)}" is no step in the branches of "${step.reference}"`;
      this.problems.add(`${join.path}/joinOn/${index}`, 'join_member_unknown', what);
      return [];
    });
  }
}

function isFork(step: Outline | undefined): boolean {
  return step?.kind === 'FORK_JOIN' || step?.kind === 'FORK_JOIN_DYNAMIC';
}

function flatten(list: readonly Outline[]): Outline[] {
  return list.flatMap((step) => [step, ...step.branches.flatMap(flatten)]);
}

/** The place on the branch's own level that the member's end leads to. */
function lift(branch: readonly Outline[], member: Outline): number {
  const index = branch.findIndex((step) => flatten([step]).includes(member));
  if (index < 0) return NO_PLACE;
  return (isFork(branch[index]) ? (branch[index + 1] ?? branch[index]) : branch[index]).place;
}
