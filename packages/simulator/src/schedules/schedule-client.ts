import type { ClientParts } from '../clients/sim-client.ts';
import type { RandomStream } from '../kernel/random.ts';
import { SimProcess } from '../kernel/sim-process.ts';
import { type CallAnswer, call } from '../network/call.ts';
import type { ExchangeRequest } from '../network/exchange.ts';
import { drawPatch, drawSchedule, type ScheduleDraw } from './draw-schedule.ts';
import type { KnownSchedules } from './known-schedules.ts';

/** Maximum number of sends of a request that gets no answer. */
const SENDS_MAX = 6;

/** Schedules have these names, so that changes meet each other. */
const NAMES = 10;

interface Options {
  readonly everyMs: number;
  readonly hasRuns: boolean;
}

/** A client that creates, changes, pauses, triggers, backfills and deletes schedules. */
export class ScheduleClient {
  readonly process: SimProcess;
  private readonly parts: ClientParts;
  private readonly known: KnownSchedules;
  private readonly options: Options;
  private readonly random: RandomStream;
  private isStopped = false;

  constructor(parts: ClientParts, known: KnownSchedules, options: Options) {
    this.parts = parts;
    this.known = known;
    this.options = options;
    this.process = new SimProcess(parts.simulation, 'planner');
    this.random = parts.simulation.random('planner');
    for (let place = 0; place < 4; place++) this.put(nameOf(place));
    this.next();
  }

  /** No further requests. */
  stop(): void {
    this.isStopped = true;
  }

  /** Deletes every schedule. It repeats each request until it is answered. */
  deleteAll(): void {
    for (let place = 0; place < NAMES; place++) {
      const request = { method: 'DELETE', path: pathOf(nameOf(place)), body: '' } as const;
      const ask = () => {
        call(this.parts.network, this.process, { ...request }, (answer) => {
          const isDone = answer?.status === 204 || answer?.status === 404;
          if (!isDone) this.process.after(1000, ask);
        });
      };
      ask();
    }
  }

  private next(): void {
    this.process.after(this.options.everyMs * (0.2 + 1.6 * this.random.next()), () => {
      if (this.isStopped) return;
      this.act();
      this.next();
    });
  }

  private act(): void {
    const { random } = this;
    const name = nameOf(random.integer(0, NAMES - 1));
    const choice = random.next();
    if (choice < 0.3) this.put(name);
    else if (choice < 0.5) this.ask('PATCH', pathOf(name), drawPatch(this.draw()));
    else if (choice < 0.58) this.ask('DELETE', pathOf(name), undefined);
    else if (choice < 0.66) this.ask('POST', `${pathOf(name)}/pause`, {});
    else if (choice < 0.76) this.ask('POST', `${pathOf(name)}/resume`, {});
    else if (choice < 0.86) this.ask('POST', `${pathOf(name)}/trigger`, {});
    else if (choice < 0.92) this.backfill(name);
    else this.batch();
  }

  private put(name: string): void {
    this.ask('PUT', pathOf(name), drawSchedule(this.draw()));
  }

  private batch(): void {
    const { random } = this;
    const count = random.integer(1, 6);
    const items = Array.from({ length: count }, () => {
      const id = nameOf(random.integer(0, NAMES - 1));
      const op = random.pick(['put', 'put', 'patch', 'delete']);
      if (op === 'delete') return { op, id };
      return { op, id, ...(op === 'put' ? drawSchedule(this.draw()) : drawPatch(this.draw())) };
    });
    this.ask('POST', '/v1/schedules/batch', items);
  }

  private backfill(name: string): void {
    const { random } = this;
    if (random.chance(0.2)) {
      this.ask('DELETE', `${pathOf(name)}/backfill`, undefined);
      return;
    }
    const to = this.process.wall() - random.integer(-2000, 60_000);
    const from = to - random.integer(1000, 60_000);
    const ratePerSec = random.pick([0.2, 1, 10]);
    this.ask('POST', `${pathOf(name)}/backfill`, { from, to, ratePerSec });
  }

  private draw(): ScheduleDraw {
    const { random, options } = this;
    const n = this.parts.known.nextNumber();
    return { random, now: this.process.wall(), n, hasRuns: options.hasRuns };
  }

  private ask(method: ExchangeRequest['method'], path: string, given: unknown): void {
    const body = given === undefined ? '' : JSON.stringify(given);
    this.send({ method, path, body }, 1);
  }

  private send(request: ExchangeRequest, sends: number): void {
    call(this.parts.network, this.process, request, (answer) => {
      if (answer !== undefined && answer.status !== 503) {
        this.answered(request, answer);
        return;
      }
      if (sends >= SENDS_MAX || this.isStopped) return;
      this.parts.situations.note('a client sent a request about schedules again');
      const again = this.random.logarithmic(50, 20_000);
      this.process.after(again, () => {
        if (!this.isStopped) this.send({ ...request }, sends + 1);
      });
    });
  }

  /** Notes what the server promised. */
  private answered(
    { method, path, body }: ExchangeRequest,
    { status, ...answer }: CallAnswer,
  ): void {
    if (status >= 300) return;
    const name = path.split('/')[3];
    const { changes, triggered } = this.known;
    if (path.endsWith('/trigger')) {
      const { taskId, runId } = JSON.parse(answer.body) as Record<string, string | null>;
      triggered.push(taskId ?? runId ?? '');
    }
    if (method === 'DELETE' && !path.endsWith('/backfill'))
      changes.push({ name, input: undefined });
    if (method !== 'PUT') return;
    const { change } = JSON.parse(answer.body) as { readonly change: string };
    if (change !== 'unchanged') changes.push({ name, input: inputNumber(JSON.parse(body)) });
  }
}

/** The number that the input of a drawn schedule has. */
function inputNumber(given: unknown): number {
  type Target = { readonly input: { readonly n: number } };
  const { task, run } = given as { readonly task?: Target; readonly run?: Target };
  return (task ?? run)?.input.n ?? 0;
}

function nameOf(place: number): string {
  return `plan-${place}`;
}

function pathOf(name: string): string {
  return `/v1/schedules/${name}`;
}
