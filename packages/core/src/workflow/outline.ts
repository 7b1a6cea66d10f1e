import { isObject, type Place, type Problems, pointerOf } from './problems.ts';
import { STEP_KINDS, type StepKind } from './program.ts';

/** Bounds of a definition. */
const STEPS_MAX = 2000;
const DEPTH_MAX = 32;
const BRANCHES_MAX = 500;

/** A step of the definition with the lists of steps inside it, numbered in reading order. */
export interface Outline extends Place {
  readonly place: number;
  readonly kind: StepKind;
  readonly reference: string;
  /** Branches of a FORK_JOIN, or the cases of a SWITCH. */
  readonly branches: readonly (readonly Outline[])[];
  /** The value of each case, in the order of `branches`; the default case has none. */
  readonly caseNames: readonly (string | undefined)[];
}

/** Other names for kinds of steps. */
const ALIASES: Readonly<Record<string, StepKind>> = { FORK: 'FORK_JOIN' };

const REFERENCE = /^[^.[\]{}$'"\s()*?@,:/~]{1,128}$/;

/** Reads the steps of a definition, in pre-order, and notes what cannot be read. */
export class OutlineReader {
  readonly all: Outline[] = [];
  private readonly problems: Problems;
  private readonly paths = new Map<string, string>();

  constructor(problems: Problems) {
    this.problems = problems;
  }

  list(steps: readonly unknown[], path: string, depth = 1): Outline[] {
    if (depth > DEPTH_MAX) {
      this.problems.add(path, 'too_deep', `steps are nested more than ${DEPTH_MAX} deep`);
      return [];
    }
    return steps.flatMap((step, index) => this.step(step, `${path}/${index}`, depth));
  }

  private step(value: unknown, path: string, depth: number): Outline[] {
    const { problems, all } = this;
    if (!isObject(value)) {
      problems.add(path, 'bad_field', 'a step must be an object');
      return [];
    }
    if (all.length === STEPS_MAX) {
      problems.add(path, 'too_many_steps', `a definition has at most ${STEPS_MAX} steps`);
    }
    if (all.length >= STEPS_MAX) return [];
    const here = { value, path };
    const reference = this.reference(here);
    const kind = this.kind(here);
    const outline = { value, path, place: all.length, kind, reference };
    const branches: Outline[][] = [];
    const caseNames: (string | undefined)[] = [];
    const whole = { ...outline, branches, caseNames };
    all.push(whole);
    if (kind === 'FORK_JOIN') branches.push(...this.forkBranches(here, depth));
    if (kind === 'SWITCH') this.cases(here, depth, { branches, caseNames });
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

  private forkBranches(here: Place, depth: number): Outline[][] {
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
      return this.list(branch, `${path}/${index}`, depth + 1);
    });
  }

  private cases(
    here: Place,
    depth: number,
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
      into.branches.push(this.list(Array.isArray(steps) ? steps : [], at, depth + 1));
    }
    into.caseNames.push(undefined);
    const others = problems.array(here, 'defaultCase');
    into.branches.push(this.list(others, `${here.path}/defaultCase`, depth + 1));
  }
}
