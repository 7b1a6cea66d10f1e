import { framesOf, isBranch } from '../../state/runs/run-frames.ts';
import type { StepNode } from '../../workflow/program.ts';
import {
  hasStepFailed,
  isStepOver,
  RESET_AGAIN,
  RESET_DUE_ON,
  RESET_RUNS_ON,
  STEP_CANCELLED,
  STEP_PENDING,
} from '../../workflow/run-state.ts';
import { nextSlot, type StepVisit, type Visit, visitStep } from './end-steps.ts';

/**
 * Which steps of an ended run begin again when it goes on: those that are asked for, and all that
 * they lead to. A loop around such a step keeps its iterations and goes on with the newest one. A
 * join counts again which of its branches are over.
 */
export class ResetPlan {
  private readonly visit: Visit;
  /** Steps that begin again. */
  private readonly again = new Set<number>();
  /** Those of them that others lead to. */
  private readonly reached = new Set<number>();
  /** Steps that are ended from outside. */
  private readonly held = new Set<number>();
  /** Loops that go on, with how they do, and a step that waits on for its run. */
  private readonly loops = new Map<number, number>();

  /** The step that comes first in the event, because an input belongs to it; -1 for none. */
  first = -1;

  constructor(visit: Visit) {
    this.visit = visit;
  }

  /** Everything that did not succeed begins again; loops around it go on. */
  startUnsuccessful(): void {
    const { steps } = this.visit.decision.state.runs;
    for (const step of this.slots()) {
      if (!hasStepFailed(steps.state[step]) || this.loops.has(step)) continue;
      const isStoppedLoop = steps.state[step] === STEP_CANCELLED && steps.iteration[step] > 0;
      if (!isStoppedLoop) this.start(step);
      else if (steps.waiting[step] === 1) this.goOn(step);
      else if (!this.loops.has(step)) this.loops.set(step, RESET_DUE_ON);
    }
  }

  /** This step begins again. In an iteration that is not the newest one, its loop does. */
  start(step: number): void {
    const loop = this.loopOf(step);
    if (loop >= 0 && !this.isNewest(step, loop)) return this.start(loop);
    if (loop >= 0) this.goOn(loop);
    this.again.add(step);
    this.leadOn(step);
  }

  /** This step waits on for its run, which goes on; what comes after it begins again. */
  keep(step: number): void {
    const loop = this.loopOf(step);
    if (loop >= 0 && !this.isNewest(step, loop)) return;
    if (loop >= 0) this.goOn(loop);
    this.loops.set(step, RESET_RUNS_ON);
    this.leadOn(step);
  }

  /** Whether that step waits on, and nothing before it begins again. */
  keeps(step: number): boolean {
    this.frames();
    return this.loops.has(step) && !this.again.has(step);
  }

  /** Whether a step is in the newest iteration of the loop around it. */
  private isNewest(step: number, loop: number): boolean {
    const { state } = this.visit.decision;
    const { steps } = state.runs;
    // A branch is in the iteration of its fork.
    const place = isBranch(state, step) ? steps.owner[step] - 1 : step;
    return steps.inner[loop] - 1 === visitStep(this.visit, place).frame;
  }

  /** Whether the step that is ended from outside stays, and nothing before it begins again. */
  holds(step: number): boolean {
    this.frames();
    return this.again.has(step) && !this.reached.has(step);
  }

  /** Whether the step whose input is replaced begins again itself. */
  get hasFirst(): boolean {
    this.frames();
    return this.again.has(this.first);
  }

  /** Whether nothing would change. */
  get isEmpty(): boolean {
    return this.frames().length === 0 && this.resets().steps.length === 0;
  }

  /** This step will be ended from outside: it does not begin again by itself. */
  hold(step: number): void {
    this.start(step);
    this.held.add(step);
  }

  /** All of the run begins again. */
  startAll(): void {
    const { table } = this.visit.decision.state.runs;
    const base = table.base[this.visit.run];
    const size = this.visit.program.scopes[0].arrivals.length;
    this.again.add(base);
    for (let step = base + 1; step < base + size; step++) {
      this.again.add(step);
      this.reached.add(step);
    }
  }

  private reach(step: number): void {
    if (this.reached.has(step)) return;
    this.reached.add(step);
    this.again.add(step);
    this.leadOn(step);
  }

  /** A loop waits for its newest iteration again, and what comes after it begins again. */
  private goOn(loop: number): void {
    if (this.loops.get(loop) === RESET_RUNS_ON || this.again.has(loop)) return;
    const outer = this.loopOf(loop);
    // In an iteration that is not the newest one, the loop around it begins again.
    if (outer >= 0 && !this.isNewest(loop, outer)) return this.start(outer);
    this.loops.set(loop, RESET_RUNS_ON);
    if (outer >= 0) this.goOn(outer);
    this.leadOn(loop);
  }

  private leadOn(step: number): void {
    const at = visitStep(this.visit, step);
    const { nexts, cases, otherwise } = at.node;
    for (const place of new Set([nexts, otherwise, ...cases.values()].flat())) {
      const next = nextSlot(at, place);
      // The end of a body leads to its loop, which goes on anyway.
      if (next !== this.loopOf(step) && !this.isTaken(next)) this.reach(next);
    }
  }

  /** Whether an EXCLUSIVE_JOIN has gone on with a step that is kept. */
  private isTaken(step: number): boolean {
    const at = visitStep(this.visit, step);
    return at.node.kind === 'EXCLUSIVE_JOIN' && this.arrived(at) > 0;
  }

  /** The loop around a step; -1 without one. */
  private loopOf(step: number): number {
    const { steps } = this.visit.decision.state.runs;
    const owner = steps.owner[step] - 1;
    return owner >= 0 && steps.iteration[owner] === 0 ? steps.owner[owner] - 1 : owner;
  }

  /** Every step that has begun or may begin, outermost first. */
  private slots(): number[] {
    const { decision, run } = this.visit;
    return framesOf(decision.state, run).flatMap(({ base, size }) =>
      Array.from({ length: size }, (_, index) => base + index),
    );
  }

  /** Frames of loops and forks that begin again: first slot and size, inner ones first. */
  frames(): number[] {
    const { decision, run } = this.visit;
    const { owner } = decision.state.runs.steps;
    const gone = new Set<number>();
    const frames = framesOf(decision.state, run).filter(({ base, size }) => {
      const isGone = this.again.has(owner[base] - 1) || gone.has(owner[base] - 1);
      if (isGone) for (let step = base; step < base + size; step++) gone.add(step);
      return isGone && owner[base] !== 0;
    });
    for (const step of gone) {
      this.again.delete(step);
      this.loops.delete(step);
    }
    return frames.reverse().flatMap(({ base, size }) => [base, size]);
  }

  /** Steps with their arrivals and kinds. Call `frames` first. */
  resets(): { steps: number[]; waiting: number[]; kinds: number[] } {
    const { steps } = this.visit.decision.state.runs;
    const resets: [number, number, number][] = [];
    const first = this.again.has(this.first) ? [this.first] : [];
    for (const step of new Set([...first, ...this.again])) {
      const waiting = this.held.has(step) ? 1 : this.reached.has(step) ? this.waitingOf(step) : 0;
      // It has not begun, and nothing before it changed.
      const isSame = steps.state[step] === STEP_PENDING && steps.waiting[step] === waiting;
      if (!isSame || step === this.first) resets.push([step, waiting, RESET_AGAIN]);
    }
    for (const [loop, kind] of this.loops) if (!this.again.has(loop)) resets.push([loop, 1, kind]);
    return {
      steps: resets.map(([step]) => step),
      waiting: resets.map(([, waiting]) => waiting),
      kinds: resets.map(([, , kind]) => kind),
    };
  }

  /** Tasks that may be submitted from now on: room is taken for all of them. */
  tasks(goneFrames: readonly number[]): number {
    const { decision, run, program } = this.visit;
    const { state } = decision;
    const { steps } = state.runs;
    const gone = new Set(goneFrames.filter((_, at) => at % 2 === 0));
    let tasks = 0;
    for (const { base, size, isFork } of framesOf(state, run)) {
      if (gone.has(base) || !this.isOpen(base, isFork)) continue;
      for (let step = base; step < base + size; step++) {
        // A branch may run a workflow, which takes its room itself.
        const node = isFork ? visitStep(this.visit, step).node : program.nodes[steps.node[step]];
        const hasTask = node.task !== undefined;
        const isLinked = steps.link[step] !== 0 && !this.again.has(step);
        const isSpent = isFork && isStepOver(steps.state[step]) && !this.again.has(step);
        if (hasTask && !isLinked && !isSpent) tasks += 1;
      }
    }
    return tasks;
  }

  /** Whether steps of a frame may still begin. A loop that is over has taken its room back. */
  private isOpen(base: number, isFork: boolean): boolean {
    const { steps } = this.visit.decision.state.runs;
    const owner = steps.owner[base] - 1;
    if (owner < 0 || isFork) return true;
    return this.loops.has(owner) && steps.inner[owner] - 1 === base;
  }

  private waitingOf(step: number): number {
    const at = visitStep(this.visit, step);
    const { node } = at;
    if (node.joinsFork >= 0) return this.branchesLeft(at);
    return Math.max(0, node.arrivals - this.arrived(at));
  }

  /** Steps that are kept and have arrived at this one. */
  private arrived(at: StepVisit): number {
    const { program, frame, node } = at;
    const { first, arrivals } = program.scopes[node.scope];
    const before = program.nodes.slice(first, first + arrivals.length);
    return before.filter((each) => {
      const step = frame + each.place - first;
      const isKept = !this.again.has(step) && !this.loops.has(step);
      return (
        isKept && this.hasArrived(each, step) && this.takenNexts(each, step).includes(node.place)
      );
    }).length;
  }

  private hasArrived({ isPermissive }: StepNode, step: number): boolean {
    const { state } = this.visit.decision.state.runs.steps;
    if (!isStepOver(state[step])) return false;
    return !hasStepFailed(state[step]) || (isPermissive && state[step] !== STEP_CANCELLED);
  }

  private takenNexts(node: StepNode, step: number): readonly number[] {
    if (node.kind !== 'SWITCH') return node.nexts;
    const { decision } = this.visit;
    const { steps } = decision.state.runs;
    const { utf8, values } = decision.runWork;
    const output = values.payload(steps.output[step], steps.outputLength[step]);
    if (output === undefined) return node.otherwise;
    const text = utf8.decode(output.bytes.subarray(output.start, output.end));
    const { selectedCase } = JSON.parse(text) as { selectedCase?: string };
    return node.cases.get(selectedCase ?? '') ?? node.otherwise;
  }

  private branchesLeft({ program, frame, node }: StepVisit): number {
    const { steps } = this.visit.decision.state.runs;
    const { first } = program.scopes[node.scope];
    const fork = frame + node.joinsFork - first;
    const base = steps.inner[fork] - 1;
    const branch =
      program.nodes[program.scopes[program.nodes[node.joinsFork].fork?.scope ?? 0].first];
    if (this.again.has(fork) || base < 0) return node.arrivals;
    let left = 0;
    for (let step = base; step < base + steps.items[fork]; step++) {
      if (this.again.has(step) || !this.hasArrived(branch, step)) left += 1;
    }
    return left;
  }
}
