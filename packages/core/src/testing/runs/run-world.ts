import { expect } from 'vitest';
import type { SessionId } from '../../base/ids.ts';
import { Branches } from '../../decision/runs/branches.ts';
import { referenceOf } from '../../decision/runs/run-place.ts';
import type { Program } from '../../workflow/program.ts';
import { TestPartition } from '../test-partition.ts';
import { testUtf8 } from '../test-utf8.ts';
import { SeededRandom } from '../world/seeded-random.ts';
import type { StepDescription } from './describe-runs.ts';
import { BRANCH_DEFINITION, BRANCH_WORKFLOW } from './model-branches.ts';
import { rerun, restart, retry } from './model-revival.ts';
import type { ModelDefinition } from './model-steps.ts';
import { RandomDefinition, randomOutput } from './random-definition.ts';
import { RunBlobs } from './run-blobs.ts';
import { RunModel } from './run-model.ts';
import {
  bytes,
  compiled,
  isSmooth,
  parsed,
  plain,
  plainIds,
  type Shown,
  shownModel,
} from './shown-runs.ts';
import { RUN_LIMITS, TestRuns } from './test-runs.ts';

export interface Size {
  readonly steps: number;
  /** Of the outermost list, at most. */
  readonly length: number;
  /** How often an operator cancels, per action, and how often a task fails. */
  readonly cancelRate: number;
  readonly failureRate: number;
  readonly actionsMax: number;
}

export const SMALL: Size = {
  steps: 40,
  length: 4,
  cancelRate: 0.04,
  failureRate: 0.07,
  actionsMax: 600,
};
/** With the rates of small definitions, large ones would never get far. */
export const LARGE: Size = {
  steps: 200,
  length: 80,
  cancelRate: 0.001,
  failureRate: 0.003,
  actionsMax: 6000,
};
/** So much room that no run rests until others give theirs back. */
const LIMITS = {
  ...RUN_LIMITS,
  tasksMax: 2000,
  finishedTasksMax: 10_000,
  payloadBytesMax: 10_000_000,
};
const TYPES = ['t0', 't1', 't2', 'sluice:http'];
/** Kinds of steps that are skipped here: those that have no steps inside. */
const SKIPPED: readonly string[] = ['SIMPLE', 'HTTP', 'NOOP', 'INLINE', 'WAIT', 'SET_VARIABLE'];

/** Of outputs. */
const BLOB_RATE = 0.15;

/** Levels of runs that runs start. */
const LEVELS = 2;

/** A run in memory, and what the naive interpreter says of it. */
interface Followed {
  readonly number: number;
  readonly model: RunModel;
  readonly program: Program;
}

/** One run of a random definition, driven at random, beside the naive interpreter. */
export class RunWorld {
  readonly random: SeededRandom;
  readonly partition: TestPartition;
  readonly runs: TestRuns;
  readonly size: Size;
  readonly definition: ModelDefinition;
  readonly program: Program;
  readonly model: RunModel;
  readonly number: number;
  session: SessionId;
  readonly blobs = new RunBlobs();

  constructor(seed: number, size: Size) {
    this.size = size;
    this.random = new SeededRandom(seed);
    const runUnits = this.random.between(1, 30);
    const coldRunUnits = this.random.between(1, 30);
    this.partition = new TestPartition(LIMITS, { runUnits, coldRunUnits });
    this.runs = new TestRuns(this.partition);
    this.definition = new RandomDefinition(this.random, size.steps, {
      length: size.length,
      levels: LEVELS,
      other: 'other',
      hasEvents: true,
    }).draw();
    this.program = compiled(this.definition);
    const slots = this.random.between(1, 5);
    this.session = this.partition.attach({ types: TYPES, slots }).session;
    this.runs.register('flow', this.definition);
    this.runs.register('other', { tasks: [{ taskReferenceName: 'noop', type: 'NOOP' }] });
    this.runs.register(BRANCH_WORKFLOW, BRANCH_DEFINITION);
    const input = { k: randomOutput(this.random) };
    this.number = this.runs.begin('flow', input);
    this.model = new RunModel(this.definition, input, this.partition.now);
    this.drain();
  }

  /** A worker answers, an operator cancels, or the server starts again. */
  act(): void {
    if (this.random.next() < this.size.cancelRate) {
      this.runs.cancel(this.number);
      this.model.cancel();
      return;
    }
    const dice = this.random.next();
    if (dice < 0.03 && this.skipAhead()) return;
    if (dice < 0.08) return this.restart();
    if (dice < 0.2) {
      const isPause = this.random.next() < 0.5 && ['running', 'paused'].includes(this.model.status);
      this.runs.pause(this.number, isPause);
      this.model.pause(isPause);
      return;
    }
    if (dice < 0.5 && this.endWaiting()) return;
    if (dice < 0.55) return this.passTime(this.random.between(1, 40));
    const held = this.partition.heldBy(this.session);
    if (held.length === 0) {
      if (this.model.status === 'paused') {
        this.runs.pause(this.number, false);
        this.model.pause(false);
      } else if (!this.endWaiting()) this.passTime(this.random.between(1, 40));
      return;
    }
    const place = this.random.between(0, held.length - 1);
    const output = randomOutput(this.random);
    const succeeded = this.random.next() >= this.size.failureRate;
    const { model, reference } = this.stepOf(held[place]);
    this.partition.report(this.session, {
      lease: this.partition.leasesOf(this.session)[place],
      kind: succeeded ? 'succeeded' : 'failed',
      payload: succeeded ? this.stored(output) : JSON.stringify(output),
      retryable: false,
    });
    model.report(reference, succeeded, output);
    this.model.settle();
  }

  /** A step that has not begun will be passed over. False when there is none. */
  private skipAhead(): boolean {
    if (!['running', 'paused'].includes(this.model.status)) return false;
    const ahead = this.runs.run(this.number).steps.filter(({ state, node, suffix }) => {
      const { kind, scope } = this.program.nodes[node];
      return state === 'pending' && suffix === '' && scope === 0 && SKIPPED.includes(kind);
    });
    if (ahead.length === 0) return false;
    const key = this.keyOf(ahead[this.random.between(0, ahead.length - 1)], this.program);
    expect(this.runs.end(this.number, key, 'skip').rejection).toBeUndefined();
    this.model.skipped.add(key);
    return true;
  }

  /** The output itself, or now and then the reference to a blob. */
  private stored(output: unknown): string {
    const text = JSON.stringify(output);
    return this.random.next() < BLOB_RATE ? this.blobs.keep(text) : text;
  }

  /** The run and those that it started, parents first, as far as the interpreter knows them. */
  followed(): Followed[] {
    const all: Followed[] = [{ number: this.number, model: this.model, program: this.program }];
    for (const { number, model, program } of all) {
      for (const step of this.runs.run(number).steps) {
        if (step.child === 0) continue;
        const started = model.entered.get(this.keyOf(step, program))?.child;
        if (started === undefined) continue;
        all.push({ number: step.child, model: started, program: compiled(started.definition) });
      }
    }
    return all;
  }

  /** Lets the run go on in some way; undefined when it does not. */
  revive(times: number): string | undefined {
    if (this.random.next() < 0.4 && this.runAgain()) return 'run again';
    if (times === 1 && this.retryBelow()) return 'retried below';
    return this.retry() ? 'retried' : undefined;
  }

  /** What did not succeed is tried again. False when the run has nothing to retry. */
  private retry(): boolean {
    if (this.runs.revive(this.number, 'retry').rejection !== undefined) return false;
    this.model.now = this.partition.now;
    retry(this.model);
    return true;
  }

  /** All of it, or a step and what follows it, begins again. False when that is refused. */
  private runAgain(): boolean {
    const isRestart = this.random.next() < 0.3;
    const keys = [...this.model.entered.keys()];
    const key = isRestart ? '' : keys[this.random.between(0, keys.length - 1)];
    const { rejection } = this.runs.revive(this.number, isRestart ? 'restart' : 'rerun', key);
    expect(rejection).toBeUndefined();
    this.model.now = this.partition.now;
    if (isRestart) restart(this.model);
    else rerun(this.model, key);
    return true;
  }

  /**
   * A run below is tried again: those above it that ended because of it wait for it again. False
   * when there is none.
   */
  private retryBelow(): boolean {
    const all = this.followed();
    const ended = all.slice(1).filter(({ model }) => model.endedAs === 'failed');
    const chosen = ended[this.random.between(0, Math.max(0, ended.length - 1))];
    if (chosen === undefined || !this.isAwaitedByAll(chosen, all)) return false;
    const { rejection } = this.runs.revive(chosen.number, 'retry');
    const isMeant = chosen.model.wasTerminated;
    expect(rejection).toBe(isMeant ? 'run_finished' : undefined);
    if (isMeant) return false;
    for (const { model } of all) model.now = this.partition.now;
    const above = this.above(chosen, all);
    // From below: a parent that goes on finds its child going on.
    retry(chosen.model);
    for (const { model, key } of above) retry(model, key);
    return true;
  }

  /** The runs above one, nearest first, each with the step that waits. */
  private above(from: Followed, all: readonly Followed[]) {
    const found: { readonly model: RunModel; readonly key: string }[] = [];
    for (let { number } = from; number !== this.number; ) {
      const parent = all.find((each) => each.number === this.runs.run(number).parent) as Followed;
      const { steps } = this.runs.run(parent.number);
      const step = steps.find(({ child }) => child === number) as StepDescription;
      found.push({ model: parent.model, key: this.keyOf(step, parent.program) });
      ({ number } = parent);
    }
    return found;
  }

  /** Whether every run above ended because of the one below it. */
  private isAwaitedByAll(from: Followed, all: readonly Followed[]): boolean {
    return this.above(from, all).every(({ model, key }) => model.wasDecidedBy(key));
  }

  private passTime(ms: number): void {
    this.partition.now += ms;
    this.partition.advance();
    this.model.passTo(this.partition.now);
  }

  /** A script gives a value, or somebody ends a step that waits. False when no step does. */
  private endWaiting(): boolean {
    const waiting = this.followed().flatMap(({ number, model, program }) => {
      if (!['running', 'paused'].includes(model.status)) return [];
      return this.runs.run(number).steps.flatMap((step) => {
        const isLoop = program.nodes[step.node].kind === 'DO_WHILE';
        const isOpen = step.state === 'running' && step.task === 0 && step.child === 0;
        const key = this.keyOf(step, program);
        return isOpen && (!isLoop || step.isEvaluating) ? [{ number, model, step, key }] : [];
      });
    });
    if (waiting.length === 0) return false;
    const { number, model, step, key } = waiting[this.random.between(0, waiting.length - 1)];
    const output = randomOutput(this.random);
    if (step.isEvaluating) {
      const value = step.iteration > 0 ? this.random.next() < 0.6 : output;
      this.seen(model, key, step.slot);
      expect(this.runs.evaluated(step.slot, { value: JSON.stringify(value) })).toBe(0);
      model.evaluated(key, value);
    } else {
      const succeeded = this.random.next() >= 1.5 * this.size.failureRate;
      this.runs.end(number, key, succeeded ? 'complete' : 'fail', output);
      model.report(key, succeeded, output);
    }
    this.model.settle();
    return true;
  }

  /** A script sees the inputs of its step. */
  private seen(model: RunModel, key: string, step: number): void {
    const { source, input } = this.partition.evaluation(step) ?? { source: '', input: '{}' };
    if (source !== '$.a') return;
    const { a } = JSON.parse(input) as { a: unknown };
    expect(model.entered.get(key)?.input).toMatchObject({ a: plainIds(a) });
  }

  /** With a small budget, one command does not do all that is due. The alarm does the rest. */
  drain(): void {
    const isBusy = (): boolean => this.partition.state.runs.line.length > 0;
    for (let n = 0; isBusy() || this.blobs.answer(this.partition); n++) {
      if (!isBusy()) continue;
      expect(this.partition.nextTimerAt).toBeLessThanOrEqual(this.partition.now);
      if (this.random.next() < 0.05) this.restart();
      this.partition.advance();
      expect(n).toBeLessThan(500);
    }
  }

  /** A run that stops also ends steps that no worker holds. */
  followStop(): void {
    // The end of a run may stop the one that waits for it.
    for (let level = 0; level <= LEVELS; level++) this.followStops();
  }

  private followStops(): void {
    for (const { number, model, program } of this.followed().reverse()) {
      for (const step of this.runs.run(number).steps) {
        const key = this.keyOf(step, program);
        const isOver = !['running', 'stopping', 'reported'].includes(step.state);
        const isOpen = model.entered.get(key)?.state === 'running' && step.child === 0;
        if (model.status === 'stopping' && isOpen && isOver) model.report(key, false, null);
      }
      model.settle();
    }
  }

  private restart(): void {
    const { partition, session } = this;
    if (this.random.next() < 0.5) partition.snapshot();
    const leases = partition.leasesOf(session);
    partition.restart(60_000, { fromSnapshot: this.random.next() < 0.5 });
    this.session = partition.resume(session, leases, { types: TYPES, slots: 5 }).session;
  }

  private stepOf(task: number): { readonly model: RunModel; readonly reference: string } {
    for (const { number, model, program } of this.followed()) {
      const step = this.runs.run(number).steps.find((each) => each.task === task);
      if (step === undefined) continue;
      return { model, reference: this.keyOf(step, program) };
    }
    throw new Error(`no run has task ${task}`);
  }

  private keyOf(step: StepDescription, program: Program): string {
    const { state } = this.partition;
    return referenceOf(state, program, step.slot, new Branches(state, testUtf8));
  }

  get isOver(): boolean {
    return !['running', 'paused', 'stopping'].includes(this.runs.run(this.number).state);
  }

  inMemory(): Shown[] {
    return this.followed().map((each) => this.shownRun(each));
  }

  private shownRun({ number, model, program }: Followed): Shown {
    const { state, output, variables, steps } = this.runs.run(number);
    const shown = steps.flatMap((step) => {
      const { kind } = program.nodes[step.node];
      const isLoop = kind === 'DO_WHILE' && step.iteration > 0;
      if (step.state === 'pending' || (step.state === 'due' && !isLoop)) return [];
      const task = step.task === 0 ? undefined : this.partition.task(step.task);
      const input = task === undefined ? undefined : parsed(testUtf8.decode(bytes(task.input)));
      const stepState = isSmooth(model) ? { state: plain(step.state) } : {};
      return [[this.keyOf(step, program), { ...stepState, ...(task ? { input } : {}) }]];
    });
    return {
      status: state,
      output: state === 'succeeded' ? parsed(this.blobs.read(output)) : null,
      variables: variables === '' ? {} : parsed(variables),
      steps: Object.fromEntries(shown),
    };
  }

  inModel(): Shown[] {
    return this.followed().map(({ model, program }) => shownModel(model, program));
  }
}
