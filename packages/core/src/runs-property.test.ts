import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SessionId } from './base/ids.ts';
import { describeState } from './testing/describe-state.ts';
import { RandomDefinition, randomOutput } from './testing/runs/random-definition.ts';
import { type ModelDefinition, RunModel } from './testing/runs/run-model.ts';
import { TestRuns } from './testing/runs/test-runs.ts';
import { TestPartition } from './testing/test-partition.ts';
import { testUtf8 } from './testing/test-utf8.ts';
import { SeededRandom } from './testing/world/seeded-random.ts';
import { compileDefinition } from './workflow/compile.ts';
import type { Program } from './workflow/program.ts';

const STEPS_MAX = 40;
const RUNS = Number(process.env.SLUICE_RUNS ?? 300);

/** What the run model shows, and what memory shows, in the same words. */
interface Shown {
  readonly status: string;
  readonly output: unknown;
  readonly variables: unknown;
  readonly steps: Readonly<Record<string, unknown>>;
}

class RunWorld {
  readonly random: SeededRandom;
  readonly partition: TestPartition;
  readonly runs: TestRuns;
  readonly definition: ModelDefinition;
  readonly program: Program;
  readonly model: RunModel;
  readonly number: number;
  session: SessionId;

  constructor(seed: number) {
    this.random = new SeededRandom(seed);
    const runUnits = this.random.between(1, 30);
    this.partition = new TestPartition({ tasksMax: 200, finishedTasksMax: 200 }, { runUnits });
    this.runs = new TestRuns(this.partition);
    this.definition = new RandomDefinition(this.random, STEPS_MAX).draw();
    const { program, problems } = compileDefinition(this.definition, testUtf8);
    if (program === undefined) throw new Error(JSON.stringify(problems));
    this.program = program;
    const slots = this.random.between(1, 5);
    this.session = this.partition.attach({ types: ['t0', 't1', 't2'], slots }).session;
    this.runs.register('flow', this.definition);
    const input = { k: randomOutput(this.random) };
    this.number = this.runs.begin('flow', input);
    this.model = new RunModel(this.definition, input);
    this.drain();
  }

  /** A worker answers, an operator cancels, or the server starts again. */
  act(): void {
    const dice = this.random.next();
    if (dice < 0.04) {
      this.runs.cancel(this.number);
      this.model.cancel();
      return;
    }
    if (dice < 0.12) return this.restart();
    const held = this.partition.heldBy(this.session);
    if (held.length === 0) return this.partition.advance();
    const place = this.random.between(0, held.length - 1);
    const output = randomOutput(this.random);
    const succeeded = this.random.next() < 0.93;
    const reference = this.referenceOf(held[place]);
    this.partition.report(this.session, {
      lease: this.partition.leasesOf(this.session)[place],
      kind: succeeded ? 'succeeded' : 'failed',
      payload: JSON.stringify(output),
      retryable: false,
    });
    this.model.report(reference, succeeded, output);
  }

  /** With a small budget, one command does not do all that is due. The alarm does the rest. */
  drain(): void {
    for (let n = 0; this.partition.state.runs.line.length > 0; n++) {
      expect(this.partition.nextTimerAt).toBeLessThanOrEqual(this.partition.now);
      if (this.random.next() < 0.05) this.restart();
      this.partition.advance();
      expect(n).toBeLessThan(500);
    }
  }

  /** A run that stops also ends steps that no worker holds. */
  followStop(): void {
    const { steps } = this.runs.run(this.number);
    for (const [reference, { state }] of this.model.entered) {
      const step = steps[this.program.byReference.get(reference) ?? 0];
      const isOver = !['running', 'stopping', 'reported'].includes(step.state);
      if (this.model.status === 'stopping' && state === 'running' && isOver) {
        this.model.report(reference, false, null);
      }
    }
  }

  private restart(): void {
    const { partition, session } = this;
    if (this.random.next() < 0.5) partition.snapshot();
    const leases = partition.leasesOf(session);
    partition.restart(60_000, { fromSnapshot: this.random.next() < 0.5 });
    const types = ['t0', 't1', 't2'];
    this.session = partition.resume(session, leases, { types, slots: 5 }).session;
  }

  private referenceOf(task: number): string {
    const place = this.runs.run(this.number).steps.findIndex((step) => step.task === task);
    return this.program.nodes[place].reference;
  }

  /** Once a run stops, how each step ends depends on who holds it. */
  private get isSmooth(): boolean {
    return ['running', 'succeeded'].includes(this.model.status);
  }

  get isOver(): boolean {
    return !['running', 'stopping'].includes(this.runs.run(this.number).state);
  }

  inMemory(): Shown {
    const { state, output, variables, steps } = this.runs.run(this.number);
    const shown = this.program.nodes.flatMap(({ reference }, place) => {
      const step = steps[place];
      if (['pending', 'due'].includes(step.state)) return [];
      const task = step.task === 0 ? undefined : this.partition.task(step.task);
      const input = task === undefined ? undefined : parsed(testUtf8.decode(bytes(task.input)));
      const stepState = this.isSmooth ? { state: plain(step.state) } : {};
      return [[reference, { ...stepState, ...(task ? { input } : {}) }]];
    });
    return {
      status: state,
      output: state === 'succeeded' ? parsed(output) : null,
      variables: variables === '' ? {} : parsed(variables),
      steps: Object.fromEntries(shown),
    };
  }

  inModel(): Shown {
    const { status, output, variables, entered } = this.model;
    const isSimple = (reference: string): boolean =>
      this.program.nodes[this.program.byReference.get(reference) ?? 0].kind === 'SIMPLE';
    const steps = [...entered].map(([reference, { state, input }]) => [
      reference,
      { ...(this.isSmooth ? { state } : {}), ...(isSimple(reference) ? { input } : {}) },
    ]);
    return {
      status,
      output: status === 'succeeded' ? (output ?? null) : null,
      variables,
      steps: Object.fromEntries(steps),
    };
  }
}

/** A step that is about to end counts as running. */
function plain(state: string): string {
  return ['stopping', 'reported'].includes(state) ? 'running' : state;
}

function parsed(text: string): unknown {
  return text === '' ? null : JSON.parse(text);
}

function bytes(values: readonly number[]): Uint8Array {
  return Uint8Array.from(values);
}

test('random definitions run as a naive interpreter says, after every command', () => {
  const met = new Set<string>();
  fc.assert(
    fc.property(fc.nat(2 ** 31), (seed) => {
      const world = new RunWorld(seed);
      expect(world.inMemory()).toEqual(world.inModel());
      for (let n = 0; n < 400 && !world.isOver; n++) {
        world.act();
        world.drain();
        world.followStop();
        expect(world.inMemory()).toEqual(world.inModel());
      }
      expect(world.isOver).toBe(true);
      met.add(world.inMemory().status);
      for (const { kind } of world.program.nodes) met.add(kind);
      const replayed = world.partition.replayed();
      expect(describeState(replayed.state)).toEqual(describeState(world.partition.state));
    }),
    { numRuns: RUNS },
  );

  const kinds = ['SIMPLE', 'FORK_JOIN', 'JOIN', 'SWITCH', 'SET_VARIABLE', 'NOOP', 'TERMINATE'];
  expect([...met]).toEqual(expect.arrayContaining([...kinds, 'succeeded', 'failed', 'cancelled']));
});
