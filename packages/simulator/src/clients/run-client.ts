import type { ModelDefinition } from '@sluice/core/testing/runs/model-steps';
import type { RandomStream } from '../kernel/random.ts';
import { SimProcess } from '../kernel/sim-process.ts';
import { type CallAnswer, call } from '../network/call.ts';
import type { ExchangeRequest } from '../network/exchange.ts';
import { drawTaskOperation } from './draw-operation.ts';
import { drawDefinition, drawRunInput } from './draw-workflow.ts';
import type { KnownRuns } from './known-runs.ts';
import type { ClientParts } from './sim-client.ts';

/** Maximum number of sends of a request that gets no answer. */
const SENDS_MAX = 6;

/** Share of answered starts that the client sends again later. */
const REPEAT_RATE = 0.1;

/** Share of starts of which a run is cancelled at once. */
const HASTY_RATE = 0.1;

/** Number of workflows that the client keeps registered. */
const WORKFLOWS = 4;

/** Number of dedupe keys that starts share, so that they collide. */
const SHARED_KEYS = 6;

/** Number of tasks of steps that the client remembers. */
const TASKS_KNOWN = 10;

interface Workflow {
  readonly name: string;
  version: number;
  definition: ModelDefinition;
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
  private isStopped = false;

  constructor(parts: ClientParts, runs: KnownRuns, everyMs: number) {
    this.parts = parts;
    this.runs = runs;
    this.everyMs = everyMs;
    this.process = new SimProcess(parts.simulation, 'starter');
    this.random = parts.simulation.random('starter');
    for (let place = 0; place < WORKFLOWS; place++) this.register(place);
    this.next();
  }

  /** No further requests. */
  stop(): void {
    this.isStopped = true;
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
    if (choice < 0.6) this.start();
    else if (choice < 0.7) this.cancel(this.runs.pick(random));
    else if (choice < 0.8) this.get();
    else if (choice < 0.88 && this.tasks.length > 0) this.operate();
    else if (choice < 0.95) this.register(place);
    else this.ask({ method: 'DELETE', path: this.pathOf(this.workflows[place]), body: '' });
  }

  /** Another definition, as the next version or in place of the version that is there. */
  private register(place: number): void {
    const { random } = this;
    const before = this.workflows.at(place);
    const version = (before?.version ?? 0) + (random.chance(0.8) ? 1 : 0) || 1;
    const workflow = { name: `flow${place}`, version, definition: drawDefinition(random) };
    this.workflows[place] = workflow;
    const body = JSON.stringify(workflow.definition);
    this.ask({ method: 'PUT', path: this.pathOf(workflow), body });
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
    const inline = isInline ? drawDefinition(random) : definition;
    return {
      workflow: name,
      input: drawRunInput(random, inline, n),
      ...(isInline ? { definition: inline } : {}),
      ...(choice < 0.9 ? { dedupeKey, ...window } : {}),
      ...(random.chance(0.3) ? { priority: random.integer(0, 8) } : {}),
      ...(random.chance(0.3) ? { correlationId: `order-${n}`, tags: { region: 'eu' } } : {}),
    };
  }

  private cancel(id: string): void {
    this.ask({ method: 'POST', path: `/v1/runs/${id}/cancel`, body: '' });
  }

  private get(): void {
    this.ask({ method: 'GET', path: `/v1/runs/${this.runs.pick(this.random)}`, body: '' });
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
  private ask(request: ExchangeRequest, sends = 1): void {
    const { network, situations } = this.parts;
    call(network, this.process, request, (answer) => {
      if (answer !== undefined) {
        if (isStart(request)) this.started(request, answer);
        else if (request.path.startsWith('/v1/runs/')) this.shown(answer);
        return;
      }
      if (sends >= SENDS_MAX || this.isStopped) return;
      situations.note('a client sent a request about runs again');
      const again = this.random.logarithmic(50, 20_000);
      this.process.after(again, () => this.ask({ ...request }, sends + 1));
    });
  }

  /** An answer that shows a run names the tasks of its steps. */
  private shown({ status, body }: CallAnswer): void {
    if (status >= 300) return;
    const { steps } = JSON.parse(body) as { steps: readonly { taskId: string | null }[] };
    for (const { taskId } of steps) if (taskId !== null) this.tasks.push(taskId);
    this.tasks.splice(0, this.tasks.length - TASKS_KNOWN);
  }

  private started(request: ExchangeRequest, { status, body }: CallAnswer): void {
    if (status >= 300) return;
    const { items } = JSON.parse(body) as { items: readonly { id: string }[] };
    for (const { id } of items) this.runs.add(id, this.process.name);
    if (this.random.chance(HASTY_RATE)) this.cancel(this.random.pick(items).id);
    if (!this.random.chance(REPEAT_RATE)) return;
    this.process.after(this.random.logarithmic(500, 60_000), () => {
      if (!this.isStopped) this.ask({ ...request });
    });
  }
}

function isStart({ method, path }: ExchangeRequest): boolean {
  return method === 'POST' && path === '/v1/runs';
}
