import type { Mutant } from './mutant.ts';

const STEP_PLACES = 'core/src/apply/step-places.ts';
const APPLY_RUNS = 'core/src/apply/apply-runs.ts';
const APPLY_FRAMES = 'core/src/apply/apply-frames.ts';
const END_STEPS = 'core/src/commands/runs/end-steps.ts';
const PROCEED = 'core/src/commands/steps/proceed.ts';
const GRAPH = 'core/src/workflow/graph.ts';

const PLANTED: readonly Mutant[] = [
  {
    name: 'arrival-counts-twice',
    file: STEP_PLACES,
    find: 'steps.waiting[step] -= 1;',
    replace: 'steps.waiting[step] -= steps.waiting[step] > 1 ? 2 : 1;',
    what: 'A join counts each branch once: here the same end counts down twice.',
  },
  {
    name: 'optional-failure-does-not-arrive',
    file: END_STEPS,
    find: 'event.nexts = goesOn ?',
    replace: 'event.nexts = goesOn && !isFailure ?',
    what: 'After an optional step that failed the run goes on: here what follows never begins.',
  },
  {
    name: 'empty-join-passes-at-once',
    file: GRAPH,
    find: 'this.links[join.place].arrivals = isExclusive ? 1 : lifted.size;',
    replace: `const isEmpty = this.problems.array(join, 'joinOn').length === 0;
    if (isEmpty) links.nexts = [join.place, ...links.nexts];
    this.links[join.place].arrivals = isEmpty ? 1 : lifted.size;`,
    what: 'An empty joinOn means all branches: here the join waits for none.',
  },
  {
    name: 'join-does-not-wait-for-the-last',
    file: STEP_PLACES,
    find: 'if (steps.waiting[step] === 0) makeDue(state, step);',
    replace: 'if (steps.waiting[step] <= 1) makeDue(state, step);',
    what: 'A join enters once, after its last arrival: here before it, and again with it.',
  },
  {
    name: 'line-not-saved',
    file: 'core/src/state/runs/runs.ts',
    find: "persistLists(archive, 'ends', [this.line, this.ended]);",
    replace: "persistLists(archive, 'ends', [this.ended]);",
    what: 'Runs go on after a restart (runs.in-line): here a snapshot forgets who has work to do.',
  },
  {
    name: 'alarm-forgets-the-line',
    file: 'core/src/partition.ts',
    find: 'runs.line.length > 0\n',
    replace: 'runs.line.length > 1000\n',
    what: 'Runs that have something to do need no other command: here they wait for one.',
  },
  {
    name: 'task-of-a-run-is-retried',
    file: 'core/src/commands/tasks/retry-tasks.ts',
    find: "if (tasks.step[slot] !== 0) return 'task_of_run';",
    replace: '',
    what: 'The end of a step counts once: here an operator runs its task again.',
  },
  {
    name: 'sweep-misses-queued-tasks',
    file: END_STEPS,
    find: `  if (!isHeld(tasks.state[task])) {
    endTask(decision, task, { state: CANCELLED, reason: CANCELLED_REASON });
    return;
  }
  // One that is to stop for its time would get its next attempt.
  if (tasks.stop[task] !== CANCELLED_REASON) {`,
    replace: '  if (isHeld(tasks.state[task]) && tasks.stop[task] !== CANCELLED_REASON) {',
    what: 'Queued tasks of a cancelled run end: here they wait for a worker that runs them.',
  },
  {
    name: 'stopping-run-retries-a-task',
    file: END_STEPS,
    find: 'if (tasks.stop[task] !== CANCELLED_REASON) {',
    replace: 'if (tasks.stop[task] === 0) {',
    what: 'A task of a cancelled run gets no attempt more: here one that timed out does.',
  },
  {
    name: 'stopping-run-lets-a-step-enter',
    file: PROCEED,
    find: 'else if (table.state[run] === RUN_STOPPING) {',
    replace: 'else if (table.state[run] === RUN_STOPPING && table.dueHead[run] === NO_SLOT) {',
    what: 'Nothing enters once the outcome of a run is fixed: here what was due enters.',
  },
  {
    name: 'promised-room-leaks',
    file: APPLY_RUNS,
    find: 'state.runs.promise(run, -table.promised[run]);',
    replace: '',
    what: 'A run that ended gives back the room of its tasks: here it keeps it for ever.',
  },
  {
    name: 'frame-leaks',
    file: APPLY_FRAMES,
    find: 'steps.closeFrame(base, size);',
    replace: '',
    what: 'A run that left memory gives back its steps: here they are never used again.',
  },
  {
    name: 'switch-ignores-its-value',
    file: 'core/src/commands/steps/immediate-steps.ts',
    find: 'const nexts = node.cases.get(chosen) ?? node.otherwise;',
    replace: 'const nexts = node.otherwise;',
    what: 'A SWITCH takes the case that its value names: here always the default.',
  },
  {
    name: 'key-of-a-run-is-not-kept',
    file: 'core/src/commands/runs/start-runs.ts',
    find: 'else pointAtClaim(event.dedupe, command.dedupe, at);',
    replace: 'else event.dedupe.windowMs = 0;',
    what: 'A start that is sent again gives the same run: here another one.',
  },
  {
    name: 'late-report-changes-the-outcome',
    file: END_STEPS,
    find: 'if (goesOn || !isRunning) return;',
    replace: 'if (goesOn) return;',
    what: 'The outcome of a run that stops is fixed: here a later failure changes it.',
  },
  {
    name: 'stale-evaluation-is-taken',
    file: 'core/src/commands/steps/script-evaluated.ts',
    find: 'return isSame && steps.isEvaluating[step] !== 0 && table.state[slot] !== RUN_STOPPING;',
    replace: 'return isSame && table.state[slot] !== RUN_STOPPING;',
    what: 'The result of a script counts once: here one that comes again counts, too.',
  },
  {
    name: 'open-scripts-are-forgotten',
    file: 'core/src/decision/runs/evaluation-request.ts',
    find: 'if (steps.isEvaluating[step] !== 0) add(evaluationRequest(asking, step));',
    replace: '',
    what: 'A server that starts evaluates what was open: here the run waits for ever.',
  },
  {
    name: 'waits-are-not-saved',
    file: 'core/src/state/runs/runs.ts',
    find: 'this.stepTimers.persist(archive, this.steps.used);',
    replace: '',
    what: 'A snapshot has the timers of waits: here a wait never ends after a restart from one.',
  },
  {
    name: 'frames-in-frames-leak',
    file: APPLY_FRAMES,
    find: 'freed += releaseFrame(state, run, inner - 1);',
    replace: '',
    what: 'A run that is forgotten frees the iterations of its loops: here their slots are lost.',
  },
  {
    name: 'loop-goes-on-too-far',
    file: 'core/src/commands/steps/loop-steps.ts',
    find: 'done < steps.items[step]',
    replace: 'done <= steps.items[step]',
    what: 'A loop ends with its list: here it goes on once more.',
  },
  {
    name: 'fork-joins-early',
    file: APPLY_FRAMES,
    find: 'steps.waiting[event.join] = event.count;',
    replace: 'steps.waiting[event.join] = Math.max(1, event.count - 1);',
    what: 'A join waits for all branches of a dynamic fork: here it does not wait for the last.',
  },
  {
    name: 'branch-gets-the-next-item',
    file: 'core/src/decision/runs/branches.ts',
    find: 'const from = start + this.listOf(fork).starts[index];',
    replace: `const { starts } = this.listOf(fork);
    const from = start + starts[Math.min(index + 1, starts.length - 1)];`,
    what: 'A branch gets its item: here the one of its neighbour.',
  },
  {
    name: 'fork-remembers-the-list-before',
    file: APPLY_FRAMES,
    find: 'runs.branches.forget(fork);',
    replace: '',
    what: 'A slot that is used again has another list: here the fork takes places of the old one.',
  },
  {
    name: 'branches-leak',
    file: 'core/src/state/runs/run-frames.ts',
    find: 'if (isBranch(state, base)) return steps.items[steps.owner[base] - 1];',
    replace: 'if (isBranch(state, base)) return 1;',
    what: 'The frame of a fork has a slot for each branch: here all but the first are lost.',
  },
  {
    name: 'fork-takes-no-room',
    file: APPLY_FRAMES,
    find: 'runs.promise(run, event.tasks);\n  changes',
    replace: 'changes',
    what: 'A fork takes room for all its tasks: here others take it, and the count is wrong.',
  },
];

/** Bugs in runs of workflows. They are looked for in worlds with runs. */
export const RUN_MUTANTS: readonly Mutant[] = PLANTED.map((each) => ({ ...each, inRuns: true }));
