import type { TaskRequest } from '@sluice/protocol';
import { drawTaskOperation } from '../../clients/draw-operation.ts';
import { drawInput, RETRIES, TASK_TYPES, TIMEOUTS } from '../../clients/draw-task.ts';
import type { Asked, History } from '../../clients/history.ts';
import type { KnownTasks } from '../../clients/known-tasks.ts';
import type { RandomStream } from '../../kernel/random.ts';
import { SimProcess } from '../../kernel/sim-process.ts';
import type { Simulation } from '../../kernel/simulation.ts';
import type { Exchanges, Party, WireRequest } from '../wires/exchange.ts';
import { askWhole, type WholeAnswer } from './ask-whole.ts';

export interface ClusterClientParts {
  readonly simulation: Simulation;
  readonly exchanges: Exchanges;
  readonly history: History;
  readonly known: KnownTasks;
  /** Names of the machines with servers. */
  readonly servers: readonly string[];
  readonly everyMs: number;
}

const TRIES_MAX = 6;

/** Nothing was executed, by the connection itself. */
const REFUSED = 499;

/**
 * Asks any server, and another one when that does not answer, as the SDK does. What may have been
 * executed is sent again only if that is harmless.
 */
export class ClusterClient {
  readonly process: SimProcess;
  private readonly parts: ClusterClientParts;
  private readonly random: RandomStream;
  private readonly party: Party;
  private server: number;
  private asked = 0;
  private isStopped = false;

  constructor(parts: ClusterClientParts, name: string) {
    this.parts = parts;
    this.process = new SimProcess(parts.simulation, name);
    this.random = parts.simulation.random(name);
    this.party = { host: name, hear: (run) => this.process.hear(run) };
    this.server = this.random.integer(0, parts.servers.length - 1);
    this.next();
  }

  stop(): void {
    this.isStopped = true;
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
    const { known } = this.parts;
    if (random.chance(0.05)) this.turn();
    const choice = random.next();
    if (choice < 0.4 || known.size === 0) {
      const tasks = Array.from({ length: random.integer(1, 2) }, () => this.draw());
      this.ask({ kind: 'submit', tasks });
    } else if (choice < 0.85) {
      this.ask({ kind: 'get', id: known.pick(random) });
    } else {
      const targets = {
        task: () => known.pick(random),
        number: () => known.nextNumber(),
        redrive: () => 1,
        session: () => '',
      };
      this.ask({ kind: 'operate', operation: drawTaskOperation(random, targets) });
    }
  }

  private draw(): TaskRequest {
    const { random } = this;
    const { runMs, ...input } = drawInput(random, this.parts.known.nextNumber());
    const key = random.chance(0.5) ? { dedupeKey: `key-${input.n}` } : {};
    return {
      type: random.pick(TASK_TYPES),
      input: { ...input, runMs: Math.min(runMs, 2000) },
      retry: random.pick(RETRIES),
      timeouts: random.pick(TIMEOUTS),
      ...(random.chance(0.2) ? { delayMs: random.integer(1, 5000) } : {}),
      ...key,
    } as unknown as TaskRequest;
  }

  /** Turns to another server. */
  private turn(): void {
    this.server = (this.server + 1) % this.parts.servers.length;
  }

  private ask(asked: Asked, tries = 1): void {
    const { simulation, history, exchanges, servers } = this.parts;
    const entry = history.begin(this.process.name, asked, simulation.now);
    // A server may send it to the owner twice.
    entry.isRepeated = asked.kind === 'submit' && isHarmless(asked);
    this.asked += 1;
    const request = requestOf(asked, `${this.process.name}-${this.asked}`);
    const whom = { exchanges, party: this.party, to: servers[this.server], after: this.process };
    askWhole(whom, request, (answer) => {
      const status = answer === 'refused' ? REFUSED : answer?.status;
      const isAnswered = status !== undefined;
      if (isAnswered) {
        entry.answeredAt = simulation.now;
        entry.status = status;
        if (answer !== 'refused') entry.answer = parsed(answer);
      }
      if (isAnswered && status < 499) return this.learn(asked, status, entry.answer);
      this.turn();
      const isFree = status === REFUSED || isHarmless(asked);
      if (!isFree || tries >= TRIES_MAX || this.isStopped) return;
      this.process.after(this.random.logarithmic(50, 1500), () => this.ask(asked, tries + 1));
    });
  }

  private learn(asked: Asked, status: number, answer: unknown): void {
    if (asked.kind !== 'submit' || status >= 300) return;
    const { items } = answer as { items: readonly { id: string }[] };
    for (const { id } of items) this.parts.known.add(id);
  }
}

function parsed(answer: WholeAnswer | undefined): unknown {
  return answer === undefined || answer.body === '' ? undefined : JSON.parse(answer.body);
}

function isHarmless(asked: Asked): boolean {
  if (asked.kind === 'get') return true;
  if (asked.kind !== 'submit') return false;
  return asked.tasks.every(({ dedupeKey }) => dedupeKey !== undefined);
}

function requestOf(asked: Asked, name: string): WireRequest {
  const headers = { 'sim-request': name };
  switch (asked.kind) {
    case 'submit':
      return { method: 'POST', path: '/v1/tasks', headers, body: JSON.stringify(asked.tasks) };
    case 'get':
      return { method: 'GET', path: `/v1/tasks/${asked.id}`, headers, body: '' };
    case 'operate': {
      const body = JSON.stringify(asked.operation);
      return { method: 'POST', path: '/v1/operations', headers, body };
    }
  }
}
