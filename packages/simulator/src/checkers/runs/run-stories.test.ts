import { type Event, RUN_RELATIONS, RUN_STATES, STEP_KINDS, STEP_STATES } from '@sluice/core';
import { expect, test } from 'vitest';
import { KnownRuns } from '../../clients/known-runs.ts';
import type { WorldPlan } from '../../plan/world-plan.ts';
import { event, payload, state, TestStory } from '../testing/test-story.ts';
import { RunAnswers } from './run-answers.ts';
import { RunStories } from './run-stories.ts';
import { ServerPace } from './server-pace.ts';

const RUN = 10;
const START = { type: 'start_runs', runs: [{}] } as const;
const ALARM = { type: 'advance_time' } as const;
const REPORT = { type: 'report_attempts', reports: [] } as const;
const PLAN = { limits: { payloadBytesMax: 1 }, runs: { unitsMax: 100 } } as unknown as WorldPlan;

/** A step, two branches, and a step behind their join. */
const DEFINITION = {
  tasks: [
    { name: 'a', taskReferenceName: 'first', inputParameters: { k: '${workflow.input.k}' } },
    {
      taskReferenceName: 'fork',
      type: 'FORK_JOIN',
      forkTasks: [
        [{ name: 'a', taskReferenceName: 'left', optional: true }],
        [{ name: 'a', taskReferenceName: 'right' }],
      ],
    },
    { taskReferenceName: 'join', type: 'JOIN', joinOn: [] },
  ],
  outputParameters: { given: '${first.output}' },
};

/** Its first step sees what its second one changes. */
const COUNTED = {
  variables: { n: 1 },
  tasks: [
    { name: 'a', taskReferenceName: 'sees', inputParameters: { n: '${workflow.variables.n}' } },
    { taskReferenceName: 'sets', type: 'SET_VARIABLE', inputParameters: { n: 2 } },
  ],
};

/** A failure of its first step fails the run at its end. */
const PERMISSIVE = {
  tasks: [
    { name: 'a', taskReferenceName: 'may', permissive: true },
    { name: 'a', taskReferenceName: 'then' },
  ],
};

/** A dynamic fork with one branch. The values of its inputs may be in blobs. */
const DYNAMIC = {
  tasks: [
    {
      taskReferenceName: 'fork',
      type: 'FORK_JOIN_DYNAMIC',
      dynamicForkTasksParam: 'tasks',
      dynamicForkTasksInputParamName: 'inputs',
      inputParameters: {
        tasks: [{ name: 'a', taskReferenceName: 'branch' }],
        inputs: { branch: { k: '${workflow.input.k}' } },
      },
    },
    { taskReferenceName: 'join', type: 'JOIN' },
  ],
};

class RunTest extends TestStory {
  readonly known = new KnownRuns();
  readonly stories: RunStories;
  private tasks = RUN;

  constructor(definition: object = DEFINITION) {
    super();
    const pace = new ServerPace(this.simulation, PLAN);
    this.stories = new RunStories(this.story, this.known, pace);
    this.story.rules.push(this.stories);
    const text = JSON.stringify(definition);
    this.happens({ type: 'put_workflow' }, [event('workflow_registered', { text })]);
    const input = payload('{"k":7}');
    this.happens(START, [event('run_started', { task: RUN, input })], { slots: [0] });
  }

  get runId(): string {
    return this.stories.runs.get(RUN)?.id ?? '';
  }

  submits(reference: string, input = '{}'): Event {
    this.tasks += 1;
    const given = { task: this.tasks, slot: this.tasks, step: this.tasks, run: RUN, reference };
    return event('step_submitted', { ...given, input: payload(input) });
  }

  enters(reference: string, input?: string): this {
    return this.happens(ALARM, [this.submits(reference, input)]);
  }

  /** The task of a step ends, and so does the step. */
  ends(reference: string, how: 'succeeded' | 'failed' = 'succeeded'): this {
    const task = this.stories.runs.get(RUN)?.steps.get(reference)?.task ?? 0;
    const ended = event('task_ended', { task, slot: task, state: state(how) });
    return this.happens(REPORT, [ended, stepEnded(reference, how)]);
  }

  /** Goes on after its end. Steps begin again, by their references. */
  revived(operation: 'retry' | 'restart', ...again: readonly string[]): this {
    const command = { type: 'revive_run', id: this.runId, operation };
    const places = [...(this.stories.runs.get(RUN)?.places ?? [])];
    const steps = places.filter(([, name]) => again.includes(name)).map(([slot]) => slot);
    const kinds = steps.map(() => 0);
    const reset = event('steps_reset', { task: RUN, steps, waiting: kinds, kinds, frames: [] });
    const revived = event('run_revived', { task: RUN });
    return this.happens(command as never, [revived, ...(again.length > 0 ? [reset] : [])]);
  }

  /** Up to the join. */
  get forked(): this {
    this.enters('first', '{"k":7}').ends('first');
    this.happens(ALARM, [stepEnded('fork', 'succeeded', 'FORK_JOIN')]);
    return this.enters('left').enters('right');
  }
}

function stepEnded(
  reference: string,
  how: (typeof STEP_STATES)[number] = 'succeeded',
  kind: (typeof STEP_KINDS)[number] = 'SIMPLE',
): Event {
  const fields = { task: RUN, reference, state: STEP_STATES.indexOf(how), nexts: [] };
  return event('step_ended', { ...fields, kind: STEP_KINDS.indexOf(kind) });
}

function joined(how: (typeof STEP_STATES)[number] = 'succeeded'): Event {
  return stepEnded('join', how, 'JOIN');
}

function stopping(how: (typeof RUN_STATES)[number]): Event {
  return event('run_stopping', { task: RUN, outcome: RUN_STATES.indexOf(how) });
}

function changed(how: (typeof RUN_STATES)[number]): Event {
  return event('run_changed', { task: RUN, state: RUN_STATES.indexOf(how) });
}

function runEnded(how: (typeof RUN_STATES)[number], output?: string): Event {
  const given = output === undefined ? {} : { hasOutput: true, output: payload(output) };
  return event('run_ended', { task: RUN, state: RUN_STATES.indexOf(how), ...given });
}

test('a run that goes as its definition says passes', () => {
  const run = new RunTest().forked.ends('right').ends('left');

  run.happens(ALARM, [joined(), runEnded('succeeded', '{"given":null}')]);

  expect(run.stories.runs.get(RUN)?.state).toBe('succeeded');
});

test('a start without its runs in the log is noticed (I21)', () => {
  expect(() => new RunTest().happens(START, [], { slots: [1] })).toThrow(/^I21: a start of 1/);
  const run = new RunTest();
  run.known.add('r_unknown', 'client');
  expect(() => run.stories.ended()).toThrow(/^I21: client was told of r_unknown/);
});

test('a step that enters twice, too early or with another input is noticed (I22)', () => {
  expect(() => new RunTest().enters('first', '{"k":8}')).toThrow(/^I22: step first .* gets/);
  const input = '{"k":7}';
  expect(() => new RunTest().enters('first', input).enters('first', input)).toThrow(/enters twice/);
  expect(() => new RunTest().enters('left')).toThrow(/^I22: step left .* enters too early/);
});

test('a join that does not wait for every branch is noticed (I22)', () => {
  const run = new RunTest().forked.ends('left');

  expect(() => run.happens(ALARM, [joined()])).toThrow(/^I22: step join .* enters too early/);
});

test('a step that ends in another way than its task, or twice, is noticed (I22)', () => {
  const failed = [event('task_ended', { task: 12, slot: 12, state: state('failed') })];
  const asGood = [...failed, stepEnded('left')];
  expect(() => new RunTest().forked.happens(REPORT, asGood)).toThrow(/ends as succeeded, not/);
  const run = new RunTest().enters('first', '{"k":7}').ends('first');
  expect(() => run.happens(ALARM, [stepEnded('first')])).toThrow(/^I22: step first .* ends twice/);
});

test('a run that ends too early, in another way or with another output is noticed (I22)', () => {
  const early = new RunTest().forked.ends('left').ends('right');
  const end = [runEnded('succeeded')];
  expect(() => early.happens(ALARM, end)).toThrow(/^I22: run 10 ends before join/);
  const other = new RunTest().forked.ends('left').ends('right').happens(ALARM, [joined()]);
  expect(() => other.happens(ALARM, [runEnded('failed')])).toThrow(
    /^I22: .* failed, not succeeded/,
  );
  const wrong = [joined(), runEnded('succeeded', '{"given":1}')];
  const run = new RunTest().forked.ends('left').ends('right');
  expect(() => run.happens(ALARM, wrong)).toThrow(/^I22: run 10 has output/);
});

test('what may enter and does not is noticed (I23)', () => {
  const run = new RunTest().forked.ends('left').ends('right');

  expect(() => run.after(40).happens(ALARM)).not.toThrow();
  expect(() => run.after(40).happens(ALARM)).toThrow(/^I23: step join .* has not for 80 ms/);
});

test('a run that stops for no reason, and a step that enters it, are noticed', () => {
  expect(() => new RunTest().happens(ALARM, [stopping('failed')])).toThrow(/^I22: .* nothing fail/);
  const run = new RunTest();
  run.happens({ type: 'cancel_runs', ids: [run.runId] }, [stopping('cancelled')]);
  expect(() => run.enters('first', '{"k":7}')).toThrow(/^I24: step first .* its run is stopping/);
});

test('a run that ends with a live task, or leaves it unstopped, is noticed (I24)', () => {
  const stopped = () => {
    const run = new RunTest().enters('first', '{"k":7}');
    return run.happens({ type: 'cancel_runs', ids: [run.runId] }, [stopping('cancelled')]);
  };
  const end = [runEnded('cancelled')];
  expect(() => stopped().happens(ALARM, end)).toThrow(/^I24: run 10 ends, and first lives/);
  expect(() => stopped().after(60).happens(ALARM)).toThrow(/^I24: .* first is not stopped/);
});

test('a run that is shown as ended before the log says so is noticed (I29)', () => {
  const run = new RunTest();
  const answers = new RunAnswers(run.stories);
  const view = (status: string): string => JSON.stringify({ status, steps: [] });

  expect(() => answers.shown(run.runId, view('running'))).not.toThrow();
  expect(() => answers.shown(run.runId, view('succeeded'))).toThrow(/^I29: .* shown as succeeded/);
});

test('a step that enters a paused run, and a pause that nobody asked for, are noticed', () => {
  const paused = () => {
    const run = new RunTest();
    const command = { type: 'pause_runs', ids: [run.runId], isPause: true } as const;
    return run.happens(command, [changed('paused')]);
  };
  expect(() => paused().enters('first', '{"k":7}')).toThrow(/^I24: step first .* is paused/);
  expect(() => new RunTest().happens(ALARM, [changed('paused')])).toThrow(/^I44: run 10 is run/);
  expect(() => paused().after(500).happens(ALARM)).not.toThrow();
});

test('a retry that leaves out what failed, or does more, is noticed (I44)', () => {
  const failed = () => {
    const run = new RunTest().forked.ends('left').ends('right', 'failed');
    return run.happens(ALARM, [stopping('failed'), runEnded('failed')]);
  };

  expect(() => failed().revived('retry', 'right')).not.toThrow();
  expect(() => failed().revived('retry')).toThrow(/^I44: .* keeps right/);
  const both = ['left', 'right'];
  expect(() => failed().revived('retry', ...both)).toThrow(/^I44: .* without its steps left/);
  expect(() => new RunTest().revived('retry')).toThrow(/^I44: run 10 goes on/);
});

test('a run that was restarted and cancelled has its first variables when it goes on', () => {
  const set = { ...stepEnded('sets', 'succeeded', 'SET_VARIABLE'), output: payload('{"n":2}') };
  const stopped = [stopping('cancelled'), runEnded('cancelled')];
  const again = () => {
    const run = new RunTest(COUNTED).enters('sees', '{"n":1}').ends('sees');
    run.happens(ALARM, [set, runEnded('succeeded')]).revived('restart', 'sees', 'sets');
    return run.happens({ type: 'cancel_runs', ids: [run.runId] }, stopped).revived('retry');
  };

  expect(() => again().enters('sees', '{"n":1}')).not.toThrow();
  expect(() => again().enters('sees', '{"n":2}')).toThrow(/^I22: step sees .* gets {"n":2}, not/);
});

test('a failure that a retry has made good does not count when the next step is skipped', () => {
  const run = new RunTest(PERMISSIVE).enters('may');
  const task = RUN + 1;
  const failed = event('task_ended', { task, slot: task, state: state('failed') });
  const tolerated = { ...stepEnded('may', 'failed'), isTolerated: true };
  run.happens(REPORT, [failed, tolerated]).enters('then').ends('then');
  run
    .happens(ALARM, [runEnded('failed')])
    .revived('retry', 'may', 'then')
    .enters('may');
  const skip = { type: 'operate_step', id: run.runId, reference: 'then' } as never;
  run.happens(skip, [event('step_skip_planned', { task: RUN, reference: 'then' })]).ends('may');

  run.happens(ALARM, [stepEnded('then', 'skipped'), runEnded('succeeded')]);

  expect(run.stories.runs.get(RUN)?.state).toBe('succeeded');
});

test('a step ends as the run below, which was cancelled while it waited to go on', () => {
  const starts = { taskReferenceName: 'starts', type: 'START_WORKFLOW' };
  const subWorkflowParam = { name: 'inside', workflowDefinition: { tasks: [starts] } };
  const sub = { taskReferenceName: 'sub', type: 'SUB_WORKFLOW', subWorkflowParam };
  const run = new RunTest({ tasks: [sub] });
  const [task, slot, reference] = [RUN + 1, 1, 'sub'];
  const relation = RUN_RELATIONS.indexOf('sub_workflow');
  const child = { task, slot, parent: RUN, reference, relation, input: payload('{}') };
  const begun = event('step_started', { slot, task: RUN, reference, until: 0 });
  run.happens(ALARM, [begun, event('child_started', child)]);
  const ids = [run.stories.runs.get(task)?.id];
  const cancelled = RUN_STATES.indexOf('cancelled');
  const stops = event('run_stopping', { task, outcome: cancelled });
  const below = [stops, event('run_ended', { task, state: cancelled })];

  const ended = stepEnded('sub', 'cancelled', 'SUB_WORKFLOW');
  const above = [ended, stopping('cancelled'), runEnded('cancelled')];
  run.happens({ type: 'cancel_runs', ids }, [...below, ...above]);

  expect(run.stories.runs.get(RUN)?.state).toBe('cancelled');
});

test('a fork that is ended while it waits for values has no branches', () => {
  const run = new RunTest(DYNAMIC);
  const asked = { task: RUN, step: 1, reference: 'fork', evaluation: 1 };
  run.happens(ALARM, [event('values_asked', asked)]);

  const command = { type: 'operate_step', id: run.runId, reference: 'fork' };
  const ended = stepEnded('fork', 'succeeded', 'FORK_JOIN_DYNAMIC');
  run.happens(command as never, [ended, joined()]);

  expect(run.stories.runs.get(RUN)?.steps.has('branch')).toBe(false);
  expect(run.stories.runs.get(RUN)?.steps.get('join')?.state).toBe('succeeded');
});
