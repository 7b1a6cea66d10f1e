import type { Entered, Where } from './entered-step.ts';
import { isDynamicFork } from './model-branches.ts';
import { flatten, forkOf, type ModelStep } from './model-steps.ts';
import type { ModelValues } from './model-values.ts';

/** Whether the step is an EXCLUSIVE_JOIN that waits for the branches of the fork before it. */
export function isExclusive(before: ModelStep | undefined, step: ModelStep): boolean {
  return step.type === 'EXCLUSIVE_JOIN' && before?.type === 'FORK_JOIN';
}

interface Joining {
  readonly join: ModelStep;
  readonly entered: Entered;
  readonly where: Where;
}

/** An EXCLUSIVE_JOIN takes the first of its members that is over. */
export function takeFirst(values: ModelValues, { join, entered, where }: Joining): void {
  const keys = membersOf(values, join).map((name) => values.keyOf(name, where));
  const taken = keys.find((key) => {
    const { state = 'running' } = values.entered.get(key ?? '') ?? {};
    return state !== 'running';
  });
  if (taken === undefined) return;
  const { state } = values.entered.get(taken) as Entered;
  if (state === 'completed_with_errors') entered.state = state;
  else entered.output = values.outputOf(taken);
}

function membersOf(values: ModelValues, join: ModelStep): readonly string[] {
  const { joinOn = [], defaultExclusiveJoinTask = [] } = join;
  if (joinOn.length > 0) return [...joinOn, ...defaultExclusiveJoinTask];
  const { forkTasks = [] } = forkOf(values.tasks, join);
  const last = forkTasks.flatMap((branch) => branch.at(-1)?.taskReferenceName ?? []);
  return [...last, ...defaultExclusiveJoinTask];
}

interface JoinEntered {
  readonly join: ModelStep;
  readonly entered: Entered;
  readonly suffix: string;
}

/** The output of a JOIN; an optional member that failed shows in it. */
export function passJoin(values: ModelValues, { join, entered, suffix }: JoinEntered): void {
  const where = values.whereOf(join, suffix);
  const members = values.membersOf(join, suffix).map((name) => ({
    name,
    key: values.steps.has(name + suffix) ? name + suffix : values.keyOf(name, where),
  }));
  const fork = forkOf(values.tasks, join).taskReferenceName + suffix;
  const states = [fork, ...members.map(({ key }) => key ?? '')].map(
    (key) => values.entered.get(key)?.state,
  );
  if (states.includes('completed_with_errors')) entered.state = 'completed_with_errors';
  entered.output = Object.fromEntries(
    members.map(({ name, key }) => [name, values.outputOf(key) ?? null]),
  );
}

interface JoinPlace {
  readonly fork: ModelStep;
  readonly join: ModelStep;
  readonly suffix: string;
}

/** Whether every member of the join is over, or what it is in; one is enough for some joins. */
export function isJoined(values: ModelValues, { fork, join, suffix }: JoinPlace): boolean {
  const branches = fork.forkTasks ?? [];
  const names = join.joinOn ?? [];
  if (isDynamicFork(fork)) {
    const { branches: begun = [] } = values.entered.get(fork.taskReferenceName + suffix) ?? {};
    return begun.every((name) => values.entered.get(name + suffix)?.state !== 'running');
  }
  const ask = join.type === 'JOIN' ? 'every' : 'some';
  if (names.length === 0) {
    return branches[ask]((branch) => isOver(values, branch, suffix));
  }
  return names[ask]((name) => {
    const { branch, index } = memberPlace(branches, name);
    return isOver(values, branch.slice(0, index + 1), suffix);
  });
}

/** The branch of a member of a join, and the place there that it waits for: of a fork, its join. */
export function memberPlace(branches: readonly (readonly ModelStep[])[], name: string) {
  const { branch, index } = placeInBranch(branches, name);
  const isFork = String(branch[index].type).startsWith('FORK_JOIN');
  return { branch, index: isFork ? index + 1 : index };
}

/** The branch that a step is in, and the place of the step around it there. */
export function placeInBranch(branches: readonly (readonly ModelStep[])[], name: string) {
  const has = (step: ModelStep) => flatten([step]).some((s) => s.taskReferenceName === name);
  const branch = branches.find((each) => each.some(has)) ?? [];
  return { branch, index: branch.findIndex(has) };
}

/** Whether these steps are over, with the cases that they took. */
function isOver(values: ModelValues, steps: readonly ModelStep[], suffix: string): boolean {
  return steps.every((step) => {
    const entered = values.entered.get(step.taskReferenceName + suffix);
    if (entered === undefined || entered.state === 'running') return false;
    return step.type !== 'SWITCH' || isOver(values, values.caseOf(step, suffix), suffix);
  });
}
