import { BRANCH_WORKFLOW } from '@sluice/core/testing/runs/model-branches';
import { flatten, type ModelDefinition } from '@sluice/core/testing/runs/model-steps';
import { randomOutput } from '@sluice/core/testing/runs/random-definition';
import { SeededRandom } from '@sluice/core/testing/world/seeded-random';
import type { RandomStream } from '../kernel/random.ts';
import { SimProcess } from '../kernel/sim-process.ts';
import { type CallAnswer, call } from '../network/call.ts';
import type { ExchangeRequest } from '../network/exchange.ts';
import { drawTaskOperation } from './draw-operation.ts';
import {
  BRANCH,
  drawDefinition,
  drawRunInput,
  drawStory,
  OTHER,
  OTHER_WORKFLOW,
} from './draw-workflow.ts';
import type { KnownRuns } from './known-runs.ts';
import type { ClientParts } from './sim-client.ts';

/** Maximum number of sends of a request that gets no answer. */
const SENDS_MAX = 6;

/** Share of answered starts that the client sends again later. */
const REPEAT_RATE = 0.1;

/** Share of starts of which a run is cancelled at once. */
const HASTY_RATE = 0.1;

/** Share of starts after which one of the runs is paused soon. */
const PAUSE_RATE = 0.15;

/** Share of answers after which the client operates on the run that they show. */
const PROMPT_RATE = 0.5;

/** Number of workflows that the client keeps registered. */
const WORKFLOWS = 4;

/** Number of dedupe keys that starts share, so that they collide. */
const SHARED_KEYS = 6;

/** Number of steps that the client remembers. */
const STEPS_KNOWN = 30;

/** Steps that the client tells to be passed over before they begin, by their references. */
const SKIPPED = /^(s|noop|script|wait|set|http)\d+$/;

/** Steps that take any input. */
const REPLACED = /^(s|http|switch)\d+/;

/** Number of tasks of steps, and of runs that runs started, that the client remembers. */
const TASKS_KNOWN = 10;

interface Workflow {
  readonly name: string;
  version: number;
  definition: ModelDefinition;
}

interface ShownStep {
  readonly id: string;
  readonly reference: string;
}

interface Shown {
  readonly id: string;
  readonly status: string;
  readonly steps: readonly {
    readonly taskId: string | null;
    readonly reference: string;
    readonly status: string;
    readonly childRunId: string | null;
  }[];
}

/** A client that registers workflows, and starts and cancels runs. */
export class RunClient {
  readonly process: SimProcess;
  private readonly parts: ClientParts;
  private readonly runs: KnownRuns;
  private readonly random: RandomStream;
  private readonly everyMs: number;
  private readonly workflows: Workflow[] = [];
  /** Ids of tasks of steps. */
  private readonly tasks: string[] = [];
  /** Runs and references of steps. */
  private readonly steps: ShownStep[] = [];
  /** Ids of runs that runs started. */
  private readonly children: string[] = [];
  /** Whether the workflows that others start are registered. */
  private hasOthers = false;
  /**
   * Whether the client lets runs go on that ended, also by ending a step by hand. The interpreter
   * does not know which steps begin again then, if one failed that the run can do without.
   */
  private readonly revives: boolean;
  private isStopped = false;

  constructor(parts: ClientParts, runs: KnownRuns, everyMs: number) {
    this.parts = parts;
    this.runs = runs;
    this.everyMs = everyMs;
    this.process = new SimProcess(parts.simulation, 'starter');
    this.random = parts.simulation.random('starter');
    this.revives = this.random.chance(0.7);
    for (let place = 0; place < WORKFLOWS; place++) this.register(place);
    this.registerOthers();
    this.next();
  }

  /** No further requests. */
  stop(): void {
    this.isStopped = true;
  }

  /** Workflows that steps of others start. */
  private registerOthers(): void {
    const [other, branch] = [
      [OTHER_WORKFLOW, OTHER],
      [BRANCH_WORKFLOW, BRANCH],
    ].map(([name, definition]) => {
      const body = JSON.stringify(definition);
      return { method: 'PUT', path: `/v1/workflows/${name}/1`, body } as const;
    });
    this.ask(other, () => this.ask(branch, () => this.knowOthers()));
  }

  private knowOthers(): void {
    this.hasOthers = true;
  }

  private next(): void {
    this.process.after(this.everyMs * (0.2 + 1.6 * this.random.next()), () => {
      if (this.isStopped) return;
      this.act();
      this.next();
    });
  }

  private act(): void {
    const { random } = this;
    const choice = random.next();
    const place = random.integer(0, WORKFLOWS - 1);
    if (choice < 0.36) this.start();
    else if (choice < 0.39) this.cancel(this.pick());
    else if (choice < 0.55) this.get();
    else if (choice < 0.6) this.pause();
    else if (choice < 0.7) this.endStep();
    else if (choice < 0.82) this.revive();
    else if (choice < 0.88 && this.tasks.length > 0) this.operate();
    else if (choice < 0.95) this.register(place);
    else this.ask({ method: 'DELETE', path: this.pathOf(this.workflows[place]), body: '' });
  }

  /** Another definition, as the next version or in place of the version that is there. */
  private register(place: number): void {
    const { random } = this;
    const before = this.workflows.at(place);
    const version = (before?.version ?? 0) + (random.chance(0.8) ? 1 : 0) || 1;
    const workflow = { name: `flow${place}`, version, definition: this.draw() };
    this.workflows[place] = workflow;
    const body = JSON.stringify(workflow.definition);
    this.ask({ method: 'PUT', path: this.pathOf(workflow), body });
  }

  private draw(): ModelDefinition {
    const { hasOthers, revives } = this;
    return drawDefinition(this.random, { hasOthers, hasPermissive: !revives });
  }

  private pathOf({ name, version }: Workflow): string {
    return `/v1/workflows/${name}/${version}`;
  }

  private start(): void {
    const { random } = this;
    const count = random.chance(0.8) ? 1 : random.integer(2, 5);
    const runs = Array.from({ length: count }, () => this.drawRun());
    this.ask({ method: 'POST', path: '/v1/runs', body: JSON.stringify(runs) });
  }

  private drawRun(): object {
    const { random } = this;
    const { name, definition } = random.pick(this.workflows);
    const n = this.parts.known.nextNumber();
    const choice = random.next();
    const shared = `shared-${random.integer(1, SHARED_KEYS)}`;
    const dedupeKey = choice < 0.7 ? `own-${n}` : shared;
    const window = random.chance(0.3) ? { dedupeWindowMs: random.pick([1000, 20_000]) } : {};
    const isInline = random.chance(0.2);
    const own = isInline && random.chance(0.5) ? drawStory(random, n) : undefined;
    const inline = own?.definition ?? (isInline ? this.draw() : definition);
    return {
      workflow: name,
      input: own?.input ?? drawRunInput(random, inline, n),
      ...(isInline ? { definition: inline } : {}),
      ...(choice < 0.9 ? { dedupeKey, ...window } : {}),
      ...(random.chance(0.3) ? { priority: random.integer(0, 8) } : {}),
      ...(random.chance(0.3) ? { correlationId: `order-${n}`, tags: { region: 'eu' } } : {}),
    };
  }

  private cancel(id: string): void {
    this.ask({ method: 'POST', path: `/v1/runs/${id}/cancel`, body: '' });
  }

  /** The id of a run, or of one that it started. */
  private pick(): string {
    const { random, children } = this;
    const isChild = children.length > 0 && random.chance(0.3);
    return isChild ? random.pick(children) : this.runs.pick(random);
  }

  private get(id = this.pick()): void {
    this.ask({ method: 'GET', path: `/v1/runs/${id}`, body: '' });
  }

  /** Pauses a run, and resumes it some time later. */
  private pause(id = this.pick()): void {
    const { random } = this;
    this.ask({ method: 'POST', path: `/v1/runs/${id}/pause`, body: '' });
    this.process.after(random.logarithmic(10, 20_000), () => {
      this.ask({ method: 'POST', path: `/v1/runs/${id}/resume`, body: '' });
    });
  }

  /** Completes, fails or skips a step, mostly one that the client saw. */
  private endStep(seen?: ShownStep): void {
    const { random } = this;
    const operation = random.pick(['complete', 'complete', 'fail', 'skip']);
    const isAhead = operation === 'skip' && random.chance(0.7);
    // Ending a step that failed lets its run go on, too.
    if (!this.revives && !isAhead && seen === undefined) return;
    const isUnknown = isAhead || this.steps.length === 0;
    const { id, reference } = seen ?? (isUnknown ? this.ahead() : random.pick(this.steps));
    const body = JSON.stringify(randomOutput(new SeededRandom(random.integer(0, 2 ** 31))));
    const path = `/v1/runs/${id}/steps/${reference}/${operation}`;
    this.ask({ method: 'POST', path, body });
  }

  /** A step that a run may not have begun. */
  private ahead(): ShownStep {
    const { random } = this;
    const { tasks } = random.pick(this.workflows).definition;
    const references = flatten(tasks).map((step) => step.taskReferenceName);
    const skipped = references.filter((reference) => SKIPPED.test(reference));
    return { id: this.pick(), reference: random.pick(['s1', ...skipped]) };
  }

  /** Lets a run go on that ended. */
  private revive(id = this.pick()): void {
    const { random } = this;
    if (!this.revives) return;
    const operation = random.pick(['retry', 'retry', 'restart', 'rerun']);
    const seen = this.steps.filter((step) => step.id === id);
    const { reference } = seen.length === 0 ? { reference: 's1' } : random.pick(seen);
    const isReplaced = REPLACED.test(reference) && random.chance(0.5);
    const input = isReplaced ? { input: { k: 'x', end: 'succeeded', runMs: 5, n: 0 } } : {};
    const body = operation === 'rerun' ? JSON.stringify({ fromStep: reference, ...input }) : '';
    this.ask({ method: 'POST', path: `/v1/runs/${id}/${operation}`, body });
  }

  /** An operation on the task of a step. */
  private operate(): void {
    const { random } = this;
    const targets = {
      task: () => random.pick(this.tasks),
      number: () => this.parts.known.nextNumber(),
      redrive: () => 0,
      session: () => 's_none',
    };
    const operation = drawTaskOperation(random, targets);
    this.ask({ method: 'POST', path: '/v1/operations', body: JSON.stringify(operation) });
  }

  /** Sends a request, and again when there is no answer: starts are safe by their keys. */
  private ask(request: ExchangeRequest, done?: () => void, sends = 1): void {
    const { network, situations } = this.parts;
    call(network, this.process, request, (answer) => {
      if (answer !== undefined) {
        if (answer.status < 300) done?.();
        if (isStart(request)) this.started(request, answer);
        else if (request.path.startsWith('/v1/runs/')) this.shown(answer);
        return;
      }
      if (sends >= SENDS_MAX || this.isStopped) return;
      situations.note('a client sent a request about runs again');
      const again = this.random.logarithmic(50, 20_000);
      this.process.after(again, () => this.ask({ ...request }, done, sends + 1));
    });
  }

  /** An answer that shows a run names the tasks of its steps. */
  private shown({ status, body }: CallAnswer): void {
    if (status >= 300) return;
    const { id, status: state, steps } = JSON.parse(body) as Shown;
    for (const { taskId, reference, childRunId } of steps) {
      if (taskId !== null) this.tasks.push(taskId);
      if (childRunId !== null) this.children.push(childRunId);
      this.steps.push({ id, reference });
    }
    this.tasks.splice(0, this.tasks.length - TASKS_KNOWN);
    this.steps.splice(0, this.steps.length - STEPS_KNOWN);
    this.children.splice(0, this.children.length - TASKS_KNOWN);
    if (this.isStopped || !this.random.chance(PROMPT_RATE)) return;
    const open = steps.find((step) => step.status === 'running');
    if (open !== undefined) this.endStep({ id, reference: open.reference });
    else if (state !== 'running' && state !== 'paused') this.revive(deciderOf(steps) ?? id);
  }

  private started(request: ExchangeRequest, { status, body }: CallAnswer): void {
    if (status >= 300) return;
    const { items } = JSON.parse(body) as { items: readonly { id: string }[] };
    for (const { id } of items) this.runs.add(id, this.process.name);
    this.process.after(this.random.logarithmic(500, 10_000), () => {
      if (!this.isStopped) this.get(items[0].id);
    });
    if (this.random.chance(HASTY_RATE)) this.cancel(this.random.pick(items).id);
    if (this.random.chance(PAUSE_RATE)) {
      const { id } = this.random.pick(items);
      this.process.after(this.random.logarithmic(50, 5000), () => this.pause(id));
    }
    if (!this.random.chance(REPEAT_RATE)) return;
    this.process.after(this.random.logarithmic(500, 60_000), () => {
      if (!this.isStopped) this.ask({ ...request });
    });
  }
}

/** A run that ended without success, and the one that waited for it. */
function deciderOf(steps: Shown['steps']): string | undefined {
  const failed = steps.find(({ childRunId, status }) => {
    return childRunId !== null && (status === 'failed' || status === 'timed_out');
  });
  return failed?.childRunId ?? undefined;
}

function isStart({ method, path }: ExchangeRequest): boolean {
  return method === 'POST' && path === '/v1/runs';
}
