import type { Entered } from './entered-step.ts';
import { isDynamicFork } from './model-branches.ts';
import { memberPlace, placeInBranch } from './model-joins.ts';
import { flatten, listsIn, loopsAround, type ModelStep, suffixOf } from './model-steps.ts';
import type { RunModel } from './run-model.ts';

/** A run that ended goes on, as the naive interpreter sees it. */

/** What did not succeed begins again; loops around it go on. The run of `kept` goes on. */
export function retry(model: RunModel, kept = ''): ReadonlySet<string> {
  return model.reviveAfter(() => resetUnsuccessful(model, kept));
}

/** Everything begins again. */
export function restart(model: RunModel): ReadonlySet<string> {
  return model.reviveAfter(() => {
    model.entered.clear();
    model.values.steps.clear();
    model.values.variables = { ...model.definition.variables };
    model.hasFailure = false;
  });
}

/** A step and all that follows it begin again, and what did not succeed. */
export function rerun(model: RunModel, key: string, input?: unknown): ReadonlySet<string> {
  return model.reviveAfter(() => {
    resetUnsuccessful(model, '');
    const branch = model.values.steps.has(key) ? model.entered.get(key) : undefined;
    const isReset = beginAgain(model, key);
    if (input === undefined || !isReset) return;
    if (branch === undefined) model.inputs.set(key, input);
    else branch.input = input;
  });
}

/** What did not succeed begins again. The step `kept` waits for the run that it has. */
function resetUnsuccessful(model: RunModel, kept: string): void {
  const tolerated: string[] = [];
  for (const [key, entered] of model.entered) {
    if (entered.state !== 'failed' && entered.state !== 'cancelled') continue;
    if (entered.state === 'failed' && model.values.find(key)?.permissive && key !== kept) {
      tolerated.push(key);
      continue;
    }
    const isLoop = entered.state === 'cancelled' && (entered.iteration ?? 0) > 0;
    const isBranch = model.values.steps.has(key);
    entered.isEvaluating = false;
    if (isBranch && key !== kept) resetBranch(model, entered);
    else if (isLoop || key === kept) entered.state = 'running';
    else model.entered.delete(key);
  }
  // The run went on after these, so what follows them begins again, too.
  for (const key of tolerated) if (model.entered.has(key)) beginAgain(model, key);
  model.hasFailure = false;
}

/** A branch stays with its fork. One that runs a workflow starts another run of it. */
function resetBranch(model: RunModel, entered: Entered): void {
  Object.assign(entered, { state: 'running', output: undefined });
  if (entered.child) entered.child = model.childOf(entered.child.definition, entered.input);
}

/** Whether the step itself begins again, and not the loop around it. */
function beginAgain(model: RunModel, key: string): boolean {
  const { values, definition } = model;
  const suffix = suffixOf(key);
  const reference = key.slice(0, key.length - suffix.length);
  const fork = forkOfBranch(model, reference, suffix);
  const around = loopsAround(definition, fork?.taskReferenceName ?? reference);
  const iterations = suffix.split('__').slice(1);
  for (const [level, loop] of around.entries()) {
    const outer = iterations.slice(0, level).map((iteration) => `__${iteration}`);
    const place = loop + outer.join('');
    // In an iteration that is not the newest one, the loop begins again.
    if (values.entered.get(place)?.iteration !== Number(iterations[level])) {
      beginAgain(model, place);
      return false;
    }
  }
  if (fork === undefined) {
    drop(model, values.find(key) as ModelStep, suffix);
    follow(model, reference, suffix);
  } else {
    resetBranch(model, values.entered.get(key) as Entered);
    // Its join comes right after its fork.
    follow(model, fork.taskReferenceName, suffix);
  }
  return true;
}

function forkOfBranch(model: RunModel, reference: string, suffix: string): ModelStep | undefined {
  return flatten(model.definition.tasks)
    .filter(isDynamicFork)
    .find(({ taskReferenceName: name }) => {
      return model.entered.get(name + suffix)?.branches?.includes(reference);
    });
}

/** A step has not begun, nor has anything in it. */
function drop({ entered, values }: RunModel, step: ModelStep, suffix: string): void {
  for (const { taskReferenceName: name } of flatten([step])) {
    for (const key of [...entered.keys()]) {
      const isIt = key === name + suffix || key.startsWith(`${name}${suffix}__`);
      if (!isIt) continue;
      for (const branch of entered.get(key)?.branches ?? []) {
        entered.delete(branch + suffixOf(key));
        values.steps.delete(branch + suffixOf(key));
      }
      entered.delete(key);
    }
  }
}

/** What comes after a step has not begun. */
function follow(model: RunModel, reference: string, suffix: string): void {
  const { list, around } = placeOf(model.definition.tasks, reference);
  const index = list.findIndex(({ taskReferenceName }) => taskReferenceName === reference);
  for (const next of list.slice(index + 1)) drop(model, next, suffix);
  if (around === undefined) return;
  const name = around.taskReferenceName;
  if (around.type === 'DO_WHILE') {
    const outer = suffix.slice(0, suffix.lastIndexOf('__'));
    const loop = model.entered.get(name + outer);
    if (loop !== undefined) Object.assign(loop, { state: 'running', isEvaluating: false });
    follow(model, name, outer);
  } else if (around.type === 'FORK_JOIN') followJoin(model, { fork: around, reference, suffix });
  else follow(model, name, suffix);
}

interface Branching {
  readonly fork: ModelStep;
  /** A step in one of its branches that begins again. */
  readonly reference: string;
  readonly suffix: string;
}

/** The join after a fork begins again if it waits for the step, or for what follows it. */
function followJoin(model: RunModel, { fork, reference, suffix }: Branching): void {
  const { list } = placeOf(model.definition.tasks, fork.taskReferenceName);
  const join = list[list.indexOf(fork) + 1];
  const branches = fork.forkTasks ?? [];
  const from = placeInBranch(branches, reference);
  const names = join.joinOn ?? [];
  const isAwaited = names.some((name) => {
    const { branch, index } = memberPlace(branches, name);
    return branch === from.branch && index >= from.index;
  });
  if (names.length > 0 && !isAwaited) return;
  if (join.type !== 'JOIN' && hasTaken(model, join, { fork, reference, suffix })) return;
  drop(model, join, suffix);
  follow(model, join.taskReferenceName, suffix);
}

/** Whether an EXCLUSIVE_JOIN has gone on with a branch that is kept. */
function hasTaken(model: RunModel, join: ModelStep, { fork, suffix }: Branching): boolean {
  const names = join.joinOn ?? [];
  return (fork.forkTasks ?? []).some((branch) => {
    const last = branch.at(-1)?.taskReferenceName ?? '';
    const isMember = names.length === 0 || names.includes(last);
    const { state = 'running' } = model.entered.get(last + suffix) ?? {};
    return isMember && state !== 'running';
  });
}

interface ListPlace {
  /** The list that a step is in. */
  readonly list: readonly ModelStep[];
  /** The step that the list belongs to; undefined for the definition itself. */
  readonly around: ModelStep | undefined;
}

function placeOf(tasks: readonly ModelStep[], reference: string): ListPlace {
  const places: ListPlace[] = [{ list: tasks, around: undefined }];
  for (const { list } of places) {
    for (const step of list) {
      for (const inner of listsIn(step)) places.push({ list: inner, around: step });
    }
  }
  const isIn = ({ list }: ListPlace) => list.some((s) => s.taskReferenceName === reference);
  return places.find(isIn) as ListPlace;
}
