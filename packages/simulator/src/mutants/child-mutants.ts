import type { Mutant } from './mutant.ts';

const CHILD_RUNS = 'core/src/commands/steps/child-runs.ts';
const CHILD_ENDS = 'core/src/commands/steps/child-ends.ts';

const PLANTED: readonly Mutant[] = [
  {
    name: 'child-end-is-not-reported',
    file: 'core/src/apply/apply-runs.ts',
    find: '    reportChild(state, run);',
    replace: '',
    what: 'The end of a run ends the step that waits for it: here the step waits for ever.',
  },
  {
    name: 'parent-ends-before-its-child',
    file: 'core/src/commands/steps/proceed.ts',
    find: `      if (hasChild(visit, left)) stopChild(visit, left);
      else stopStep(visit, left);`,
    replace: '      stopStep(visit, left);',
    what: 'A run that stops ends after the runs below it: here it ends before them.',
  },
  {
    name: 'stop-does-not-reach-the-child',
    file: CHILD_ENDS,
    find: '  if (isStopping) return;',
    replace: '  if (isStopping || state.now > 0) return;',
    what: 'A cancel reaches every run below: here these runs go on.',
  },
  {
    name: 'step-starts-two-runs',
    file: CHILD_RUNS,
    find: `  startChild(at, { stored, input, relation: SUB_RUN, step: step + 1, correlation });
  return true;`,
    replace: `  const twice = { stored, input, relation: SUB_RUN, step: step + 1, correlation };
  startChild(at, twice);
  startChild(at, twice);
  return true;`,
    what: 'A step starts one run: here two, and the first one ends nothing.',
  },
  {
    name: 'output-of-a-child-is-lost',
    file: CHILD_ENDS,
    find: 'endStep(at, { state: STEP_SUCCEEDED, output, nexts: node.nexts });',
    replace: 'endStep(at, { state: STEP_SUCCEEDED, nexts: node.nexts });',
    what: 'A step has the output of its run: here it has none.',
  },
  {
    name: 'failed-child-ends-its-step-well',
    file: CHILD_ENDS,
    find: 'if (state === RUN_SUCCEEDED) {',
    replace: 'if (state !== RUN_CANCELLED) {',
    what: 'A step ends as its run did: here the step of a run that failed succeeds.',
  },
  {
    name: 'parents-are-not-saved',
    file: 'core/src/state/runs/run-table.ts',
    find: 'const isNewer = this.newer.includes(column) && archive.schema < CHILDREN_SCHEMA;',
    replace: 'const isNewer = this.newer.includes(column);',
    what: 'A snapshot has who waits for a run: here nobody hears of its end after a restart.',
  },
];

/** Bugs in runs that other runs start. They are looked for in worlds with runs. */
export const CHILD_MUTANTS: readonly Mutant[] = PLANTED.map((each) => ({ ...each, inRuns: true }));
