import { isObject, type Place, type Problems, pointerOf } from './problems.ts';
import { STEP_KINDS, type StepKind } from './program.ts';

/** Bounds of a definition. */
const STEPS_MAX = 2000;
const DEPTH_MAX = 32;
const BRANCHES_MAX = 500;

/** A step of the definition with the lists of steps inside it. */
export interface Outline extends Place {
  /** Place among all steps. The steps of a scope follow each other, in reading order. */
  readonly place: number;
  /** The lists of steps around it, outermost first, and its place in each. */
  readonly lists: readonly ListPlace[];
  /**
   * Number of its scope: 0 for the definition itself. The body of each loop is another one, and so
   * is the branch of each dynamic fork.
   */
  readonly scope: number;
  readonly kind: StepKind;
  readonly reference: string;
  /** Whether it stands for the branches of a dynamic fork. */
  readonly isBranch: boolean;
  /**
   * Branches of a FORK_JOIN, cases of a SWITCH, the body of a DO_WHILE, or the one step that stands
   * for all branches of a FORK_JOIN_DYNAMIC.
   */
  readonly branches: readonly (readonly Outline[])[];
  /** The value of each case, in the order of `branches`; the default case has none. */
  readonly caseNames: readonly (string | undefined)[];
}

interface ListPlace {
  /** JSON pointer of the list. */
  readonly list: string;
  readonly index: number;
}

/**
 * Whether `step` comes later than `user` in a list that has both, so that it cannot have run yet.
 */
export function isLater(step: Outline, user: Outline): boolean {
  for (const [depth, { list, index }] of user.lists.entries()) {
    const other = step.lists[depth];
    if (other === undefined || other.list !== list) return false;
    if (other.index !== index) return other.index > index;
  }
  return false;
}

/** The steps of a definition, of the body of a loop, or the branch of a dynamic fork. */
export interface ScopeOutline {
  /** Place of its first step. */
  readonly first: number;
  readonly size: number;
  /** The loop that it is the body of, or the dynamic fork. */
  readonly loop: Outline | undefined;
}

/** Other names for kinds of steps. */
const ALIASES: Readonly<Record<string, StepKind>> = {
  FORK: 'FORK_JOIN',
  DYNAMIC_FORK: 'FORK_JOIN_DYNAMIC',
  SUB_WF: 'SUB_WORKFLOW',
  START_WF: 'START_WORKFLOW',
};

type Mutable = { -readonly [K in keyof Outline]: Outline[K] };

const REFERENCE = /^[^.[\]{}$'"\s()*?@,:/~]{1,128}$/;

/** Reads the steps of a definition and notes what cannot be read. */
export class OutlineReader {
  private readonly problems: Problems;
  private readonly paths = new Map<string, string>();
  private readonly inScopes: { loop: Outline | undefined; steps: Mutable[] }[] = [
    { loop: undefined, steps: [] },
  ];
  private count = 0;

  constructor(problems: Problems) {
    this.problems = problems;
  }

  /** Reads the whole definition. Returns its outermost steps. */
  read(steps: readonly unknown[], path: string): Outline[] {
    const top = this.list(steps, path, { depth: 1, scope: 0, lists: [] });
    this.all.forEach((step, place) => {
      step.place = place;
    });
    return top;
  }

  /** Every step, by place. */
  get all(): Mutable[] {
    return this.inScopes.flatMap(({ steps }) => steps);
  }

  get scopes(): ScopeOutline[] {
    let first = 0;
    return this.inScopes.map(({ loop, steps }) => {
      const scope = { first, size: steps.length, loop };
      first += steps.length;
      return scope;
    });
  }

  private list(steps: readonly unknown[], path: string, where: Where): Outline[] {
    if (where.depth > DEPTH_MAX) {
      this.problems.add(path, 'too_deep', `steps are nested more than ${DEPTH_MAX} deep`);
      return [];
    }
    return steps.flatMap((step, index) => {
      const lists = [...where.lists, { list: path, index }];
      return this.step(step, `${path}/${index}`, { ...where, lists });
    });
  }

  private step(value: unknown, path: string, where: Where): Outline[] {
    const { problems } = this;
    if (!isObject(value)) {
      problems.add(path, 'bad_field', 'a step must be an object');
      return [];
    }
    if (this.count === STEPS_MAX) {
      problems.add(path, 'too_many_steps', `a definition has at most ${STEPS_MAX} steps`);
    }
    if (this.count >= STEPS_MAX) return [];
    this.count += 1;
    const here = { value, path };
    const reference = this.reference(here);
    const kind = this.kind(here);
    const { scope, lists } = where;
    const outline = { value, path, place: 0, lists, scope, kind, reference, isBranch: false };
    const branches: Outline[][] = [];
    const caseNames: (string | undefined)[] = [];
    const whole = { ...outline, branches, caseNames };
    this.inScopes[scope].steps.push(whole);
    const inside = { depth: where.depth + 1, scope, lists };
    if (kind === 'FORK_JOIN') branches.push(...this.forkBranches(here, inside));
    if (kind === 'SWITCH') this.cases(here, inside, { branches, caseNames });
    if (kind === 'DO_WHILE') branches.push(this.body(whole, inside));
    if (kind === 'FORK_JOIN_DYNAMIC') branches.push([this.branch(whole)]);
    return [whole];
  }

  private reference(here: Place): string {
    const reference = this.problems.text(here, 'taskReferenceName');
    const path = `${here.path}/taskReferenceName`;
    if (reference === '') return reference;
    const before = this.paths.get(reference);
    if (before !== undefined) {
      const what = `the reference "${reference}" is used at ${before} already`;
      this.problems.add(path, 'duplicate_reference', `${what}; give each step another one`);
    } else this.paths.set(reference, path);
    if (reference === 'workflow' || reference.includes('__')) {
      const why = `"${reference}" is reserved: a reference is not "workflow" and has no "__"`;
      this.problems.add(path, 'reference_reserved', why);
    } else if (!REFERENCE.test(reference)) {
      const why =
        'a reference has at most 128 characters and none of . [ ] { } $ \' " ( ) * ? @ , : / ~';
      this.problems.add(path, 'bad_field', `"${reference}" cannot be used: ${why} and no space`);
    }
    return reference;
  }

  private kind({ value, path }: Place): StepKind {
    const type = value.type ?? 'SIMPLE';
    const kind = ALIASES[String(type)] ?? STEP_KINDS.find((each) => each === type);
    if (kind !== undefined) return kind;
    const known = `one of ${STEP_KINDS.join(', ')}`;
    this.problems.add(`${path}/type`, 'unknown_type', `"${String(type)}" is no type; use ${known}`);
    return 'NOOP';
  }

  private forkBranches(here: Place, inside: Where): Outline[][] {
    const { problems } = this;
    const path = `${here.path}/forkTasks`;
    const branches = problems.array(here, 'forkTasks');
    if (branches.length === 0) {
      problems.add(path, 'missing_field', 'a FORK_JOIN needs forkTasks: a list of lists of steps');
    }
    if (branches.length > BRANCHES_MAX) {
      problems.add(path, 'too_many_steps', `a FORK_JOIN has at most ${BRANCHES_MAX} branches`);
    }
    return branches.slice(0, BRANCHES_MAX).map((branch, index) => {
      if (!Array.isArray(branch) || branch.length === 0) {
        problems.add(`${path}/${index}`, 'empty_branch', 'a branch needs at least one step');
        return [];
      }
      return this.list(branch, `${path}/${index}`, inside);
    });
  }

  private cases(
    here: Place,
    inside: Where,
    into: { branches: Outline[][]; caseNames: (string | undefined)[] },
  ): void {
    const { problems } = this;
    const cases = problems.object(here, 'decisionCases');
    const path = `${here.path}/decisionCases`;
    if (Object.keys(cases).length === 0) {
      problems.add(path, 'missing_field', 'a SWITCH needs decisionCases with at least one case');
    }
    for (const [name, steps] of Object.entries(cases)) {
      const at = `${path}/${pointerOf(name)}`;
      if (!Array.isArray(steps)) problems.add(at, 'bad_field', 'a case is a list of steps');
      into.caseNames.push(name);
      into.branches.push(this.list(Array.isArray(steps) ? steps : [], at, inside));
    }
    into.caseNames.push(undefined);
    const others = problems.array(here, 'defaultCase');
    into.branches.push(this.list(others, `${here.path}/defaultCase`, inside));
  }

  /** Each branch is one step, which the definition does not spell out. */
  private branch(fork: Outline): Outline {
    const scope = this.inScopes.push({ loop: fork, steps: [] }) - 1;
    const { value, path, lists } = fork;
    const inside = { scope, place: 0, reference: '', branches: [], caseNames: [] };
    const branch = { ...inside, value, path, lists, kind: 'SIMPLE' as const, isBranch: true };
    this.inScopes[scope].steps.push(branch);
    return branch;
  }

  private body(loop: Outline, inside: Where): Outline[] {
    const steps = this.problems.array(loop, 'loopOver');
    const path = `${loop.path}/loopOver`;
    if (steps.length === 0) {
      this.problems.add(path, 'missing_field', 'a DO_WHILE needs loopOver: a list of steps');
    }
    const scope = this.inScopes.push({ loop, steps: [] }) - 1;
    return this.list(steps, path, { ...inside, scope });
  }
}

interface Where {
  readonly depth: number;
  readonly scope: number;
  readonly lists: readonly ListPlace[];
}
