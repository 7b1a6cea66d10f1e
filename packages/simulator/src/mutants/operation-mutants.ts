import type { Mutant } from './mutant.ts';

const RUNS = 'core/src/state/runs/runs.ts';
const RESET_PLAN = 'core/src/commands/runs/reset-plan.ts';
const REVIVE_RUN = 'core/src/commands/runs/revive-run.ts';

const PLANTED: readonly Mutant[] = [
  {
    name: 'pause-lets-one-step-through',
    file: RUNS,
    find: 'if (state[run] === RUN_RUNNING) {',
    replace:
      'if (state[run] === RUN_RUNNING || (state[run] !== RUN_STOPPING && dueHead[run] >= 0)) {',
    what: 'No step begins in a paused run: here those that are due do.',
  },
  {
    name: 'retry-forgets-a-branch',
    file: RESET_PLAN,
    find: 'if (!hasStepFailed(steps.state[step]) || this.loops.has(step)) continue;',
    replace: `if (!hasStepFailed(steps.state[step]) || this.loops.has(step)) continue;
      if (isBranch(this.visit.decision.state, step)) continue;`,
    what: 'A retry begins each branch again that did not succeed: here none of a dynamic fork.',
  },
  {
    name: 'retry-counts-a-join-too-low',
    file: RESET_PLAN,
    find: 'return Math.max(0, node.arrivals - this.arrived(at));',
    replace: 'return Math.min(1, Math.max(0, node.arrivals - this.arrived(at)));',
    what: 'A join waits again for all branches that begin again: here for one of them.',
  },
  {
    name: 'rerun-keeps-what-follows',
    file: RESET_PLAN,
    find: `    this.again.add(step);
    this.leadOn(step);
  }

  /** This step waits on`,
    replace: `    this.again.add(step);
  }

  /** This step waits on`,
    what: 'What follows a step that begins again does so, too: here it stays as it was.',
  },
  {
    name: 'parents-are-not-revived',
    file: REVIVE_RUN,
    find: 'const all = [{ visit, plan, revival }, ...plansAbove(visit)];',
    replace: 'const all = [{ visit, plan, revival }];',
    what: 'A run that goes on takes along those that failed because of it: here they stay failed.',
  },
  {
    name: 'revived-parent-starts-another-run',
    file: REVIVE_RUN,
    find: '    plan.keep(step);\n',
    replace: '',
    what: 'The step of a revived parent waits for the run that goes on: here it starts another.',
  },
  {
    name: 'revived-run-keeps-its-variables',
    file: 'core/src/apply/apply-resets.ts',
    find: 'if (event.isRestarted) payloads.store(VARIABLES_PAYLOAD, run, event.variables);',
    replace: '',
    what: 'A restart begins with the variables of the definition: here with those of the end.',
  },
  {
    name: 'reset-step-keeps-its-inner-frame',
    file: RESET_PLAN,
    find: 'return isGone && owner[base] !== 0;',
    replace: 'return this.again.has(owner[base] - 1) && owner[base] !== 0;',
    what: 'All frames inside a step that begins again are freed: here only the outer ones.',
  },
  {
    name: 'old-run-ends-a-step',
    file: 'core/src/apply/step-places.ts',
    find: 'if (step < 0 || steps.child[step] !== table.number[child]) return;',
    replace: 'if (step < 0) return;',
    what: 'Only the run that a step waits for ends it: here an older one does, too.',
  },
  {
    name: 'asked-values-are-forgotten',
    file: 'core/src/decision/runs/evaluation-request.ts',
    find: 'if (steps.isEvaluating[step] !== 0) add(evaluationRequest(asking, step));',
    replace: 'if (steps.isEvaluating[step] === 1) add(evaluationRequest(asking, step));',
    what: 'A server that starts asks for values in blobs again: here the step waits for ever.',
  },
  {
    name: 'values-enter-a-paused-run',
    file: 'core/src/commands/steps/script-evaluated.ts',
    find: 'const isGoingOn = state.runs.table.state[run] === RUN_RUNNING;',
    replace: 'const isGoingOn = state.runs.table.state[run] !== RUN_STOPPING;',
    what: 'A step whose values come while its run is paused does not begin: here it does.',
  },
  {
    name: 'fork-of-workflows-takes-room-for-tasks',
    file: 'core/src/commands/steps/fork-steps.ts',
    find: 'const tasks = workflow === undefined ? count : 0;',
    replace: 'const tasks = count;',
    what: 'Branches that run a workflow have no task: here the fork takes room for tasks.',
  },
  {
    name: 'values-of-blobs-are-mixed-up',
    file: 'core/src/decision/runs/blob-values.ts',
    find: 'const found = this.utf8.encode(value);',
    replace: `const [first] = this.answers.values();
    const found = this.utf8.encode(value && (first.value ?? 'null'));`,
    what: 'An expression has the value that it asked for: here that of another question.',
  },
  {
    name: 'branch-runs-a-workflow-without-input',
    file: 'core/src/commands/steps/fill-template.ts',
    find: '    branches.writeInput(step, value);',
    replace: "    if (node.kind !== 'SUB_WORKFLOW') branches.writeInput(step, value);",
    what: 'A branch that runs a workflow gives it its item: here it gives nothing.',
  },
  {
    name: 'call-ends-a-step-twice',
    file: 'core/src/commands/steps/operate-step.ts',
    find: 'const isRunning = runs.steps.state[step] === STEP_RUNNING;',
    replace: 'const isRunning = runs.steps.state[step] >= STEP_RUNNING;',
    what: 'Of two calls that end a step the later one is refused: here both end it.',
  },
];

/** Bugs in operations on runs, in blobs and in forks of workflows. */
export const OPERATION_MUTANTS: readonly Mutant[] = PLANTED.map((each) => {
  return { ...each, inRuns: true };
});
