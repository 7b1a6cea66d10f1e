import { REQUEST_KEY_HEADER, type TaskRequest } from '@sluice/protocol';
import type { Situations } from '../base/situations.ts';
import type { RandomStream } from '../kernel/random.ts';
import { SimProcess } from '../kernel/sim-process.ts';
import type { Simulation } from '../kernel/simulation.ts';
import { type CallAnswer, call } from '../network/call.ts';
import type { ExchangeRequest } from '../network/exchange.ts';
import type { Network } from '../network/network.ts';
import { drawOperation } from './draw-operation.ts';
import { drawTask, type TaskInput } from './draw-task.ts';
import type { Asked, History } from './history.ts';
import type { KnownSessions } from './known-sessions.ts';
import type { KnownTasks } from './known-tasks.ts';

export interface ClientParts {
  readonly simulation: Simulation;
  readonly network: Network;
  readonly situations: Situations;
  readonly history: History;
  readonly known: KnownTasks;
  readonly sessions: KnownSessions;
  /** Mean time between two requests. */
  readonly everyMs: number;
  /** Draws what is submitted. */
  readonly draw?: typeof drawTask;
}

/** Maximum number of sends of a request that gets no answer. */
const SENDS_MAX = 6;

/** Share of answered submits that the client sends again much later. */
const REPEAT_RATE = 0.05;

/** Number of dedupe keys that all clients share, so that their submits collide. */
const SHARED_KEYS = 12;

/** Share of submits whose request has a key. */
const REQUEST_KEY_RATE = 0.3;

/** A client that submits tasks and runs random operations on them. */
export class SimClient {
  readonly process: SimProcess;
  private readonly parts: ClientParts;
  private readonly random: RandomStream;
  private readonly keys: RandomStream;
  private isStopped = false;

  constructor(parts: ClientParts, name: string) {
    this.parts = parts;
    this.process = new SimProcess(parts.simulation, name);
    this.random = parts.simulation.random(name);
    this.keys = parts.simulation.random(`${name} keys of requests`);
    this.next();
  }

  /** No further requests. */
  stop(): void {
    this.isStopped = true;
  }

  /** Resumes every queue. It repeats each request until it is answered. */
  resumeQueues(types: readonly string[]): void {
    for (const taskType of types) {
      const namespace = 'default';
      const operation = { type: 'set_queue_paused', taskType, paused: false, namespace } as const;
      const request = requestOf({ kind: 'operate', operation });
      const ask = () => {
        call(this.parts.network, this.process, request, (answer) => {
          if (answer?.status !== 200) this.process.after(1000, ask);
        });
      };
      ask();
    }
  }

  private next(): void {
    this.process.after(this.parts.everyMs * (0.2 + 1.6 * this.random.next()), () => {
      if (this.isStopped) return;
      this.act();
      this.next();
    });
  }

  private act(): void {
    const { random } = this;
    const { known, sessions } = this.parts;
    const choice = random.next();
    if (choice < 0.5 || known.size === 0) this.submit();
    else if (choice < 0.65) this.ask({ kind: 'get', id: known.pick(random) });
    else {
      const targets = {
        task: () => known.pick(random),
        number: () => this.number(),
        redrive: () => random.integer(1, 5),
        session: () => sessions.pick(random),
      };
      this.ask({ kind: 'operate', operation: drawOperation(random, targets) });
    }
  }

  private submit(): void {
    const { random } = this;
    const isHuge = random.chance(0.005);
    const count = isHuge ? random.integer(50, 300) : random.integer(1, 5);
    const { draw = drawTask } = this.parts;
    const tasks = Array.from({ length: count }, () => this.keyed(draw(random, this.number())));
    this.ask({ kind: 'submit', tasks, ...this.requestKey() });
  }

  /** Most keys of requests are unique, some are shared with requests of other clients. */
  private requestKey(): Pick<Extract<Asked, { kind: 'submit' }>, 'requestKey'> {
    const { keys } = this;
    if (!keys.chance(REQUEST_KEY_RATE)) return {};
    const isOwn = keys.chance(0.8);
    const key = isOwn ? `own-${this.number()}` : `shared-${keys.integer(1, SHARED_KEYS)}`;
    return { requestKey: { key, windowMs: keys.pick([1000, 20_000, 86_400_000]) } };
  }

  private number(): number {
    return this.parts.known.nextNumber();
  }

  /** Some tasks have a unique key, others share a key with tasks of other clients. */
  private keyed(task: TaskRequest): TaskRequest {
    const { random } = this;
    const choice = random.next();
    if (choice < 0.4) return task;
    const window = random.chance(0.3) ? { dedupeWindowMs: random.pick([1000, 20_000]) } : {};
    if (choice < 0.8)
      return { ...task, ...window, dedupeKey: `own-${(task.input as TaskInput).n}` };
    return { ...task, ...window, dedupeKey: `shared-${random.integer(1, SHARED_KEYS)}` };
  }

  /**
   * Sends a request, and retries it when there is no answer. Retries are safe only with keys, but
   * the client also makes them without.
   */
  private ask(asked: Asked, sends = 1): void {
    const { simulation, history, network, situations } = this.parts;
    const entry = history.begin(this.process.name, asked, simulation.now);
    const request = requestOf(asked);
    call(network, this.process, request, (answer) => {
      entry.isRepeated = network.repeated.has(request);
      if (answer !== undefined) {
        entry.answeredAt = simulation.now;
        entry.status = answer.status;
        entry.answer = answer.body === '' ? undefined : JSON.parse(answer.body);
        this.learn(asked, answer);
        this.noteKey(asked, answer);
        this.repeat(asked);
        return;
      }
      if (sends >= SENDS_MAX || this.isStopped) return;
      situations.note('a client sent a request again');
      const again = this.random.chance(0.1) ? changed(asked, this.random.pick(POLICIES)) : asked;
      this.process.after(this.random.logarithmic(50, 20_000), () => this.ask(again, sends + 1));
    });
  }

  /** As by somebody who lost its memory: what the keys are for (I2). */
  private repeat(asked: Asked): void {
    if (asked.kind !== 'submit' || !this.random.chance(REPEAT_RATE)) return;
    this.process.after(this.random.logarithmic(500, 120_000), () => {
      if (this.isStopped) return;
      this.parts.situations.note('a client repeated a submit that was answered');
      this.ask(asked);
    });
  }

  private noteKey(asked: Asked, { status, body }: CallAnswer): void {
    if (asked.kind !== 'submit' || asked.requestKey === undefined) return;
    const isKnown = status === 201 && body.includes('"deduplicated":true');
    if (isKnown) this.parts.situations.note('a request was known by its key');
    if (status === 409 && body.includes(REQUEST_KEY_HEADER)) {
      this.parts.situations.note('a request was refused because its key was of another');
    }
  }

  private learn(asked: Asked, { status, body }: CallAnswer): void {
    if (asked.kind !== 'submit' || status >= 300) return;
    const { items } = JSON.parse(body) as { items: readonly { id: string }[] };
    for (const { id } of items) this.parts.known.add(id);
  }
}

const POLICIES = ['refuse', 'existing', 'replace', 'replace'] as const;

/** The same keys with another input. */
function changed(asked: Asked, onDuplicate: (typeof POLICIES)[number]): Asked {
  if (asked.kind !== 'submit') return asked;
  const tasks = asked.tasks.map((task) => ({
    ...task,
    input: changedInput(task.input),
    ...(task.dedupeKey === undefined ? {} : { onDuplicate }),
  }));
  return { ...asked, tasks };
}

/** It still says what its handler does, in case it becomes a task after all. */
function changedInput(input: unknown): unknown {
  return { ...(input as object), isChanged: true };
}

function requestOf(asked: Asked): ExchangeRequest {
  switch (asked.kind) {
    case 'submit': {
      const { tasks, requestKey } = asked;
      const body = JSON.stringify(tasks);
      const headers = requestKey === undefined ? {} : { requestKey };
      return { method: 'POST', path: '/v1/tasks', body, ...headers };
    }
    case 'get':
      return { method: 'GET', path: `/v1/tasks/${asked.id}`, body: '' };
    case 'operate':
      return { method: 'POST', path: '/v1/operations', body: JSON.stringify(asked.operation) };
  }
}
