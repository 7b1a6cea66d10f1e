import type { Situations } from '../base/situations.ts';
import type { RandomStream } from '../kernel/random.ts';
import type { SimProcess } from '../kernel/sim-process.ts';
import type { Simulation } from '../kernel/simulation.ts';
import type { ClientSide, ExchangeRequest } from './exchange.ts';
import { ServerExchange } from './server-exchange.ts';

/** How unreliable the network is in general. */
export interface NetworkKnobs {
  /** Usual delay of a message, in milliseconds. Some messages take much longer. */
  readonly delayMs: number;
  /** Share of requests that never arrive. */
  readonly lossRate: number;
  /** Share of requests that arrive a second time, later. */
  readonly duplicateRate: number;
  /** Share of the server's writes in which the connection breaks. */
  readonly cutRate: number;
}

/** A running server, which answers requests. */
export interface Listener {
  readonly process: SimProcess;
  handle(exchange: ServerExchange): void;
}

/** A link that is down for a while. */
interface Outage {
  readonly until: number;
  readonly breaks: boolean;
}

/** A client gives up when its first packet is not answered for this long. */
const CONNECT_MS_MAX = 10_000;

/**
 * The network between one server and all other processes.
 *
 * Bytes of one exchange arrive in order or not at all. Exchanges may overtake each other. When a
 * connection breaks, the other side may notice late, or only when it writes.
 */
export class Network {
  readonly knobs: NetworkKnobs;
  private readonly simulation: Simulation;
  private readonly random: RandomStream;
  private readonly situations: Situations;
  private listener: Listener | undefined;
  private readonly outages = new Map<SimProcess, Outage>();
  private readonly open = new Set<ServerExchange>();
  private exchanges = 0;
  /** Requests that arrive twice. */
  readonly repeated = new WeakSet<ExchangeRequest>();

  constructor(simulation: Simulation, knobs: NetworkKnobs, situations: Situations) {
    this.simulation = simulation;
    this.knobs = knobs;
    this.random = simulation.random('network');
    this.situations = situations;
  }

  listen(listener: Listener): void {
    this.listener = listener;
  }

  /** The server process ended: all its connections break after some time. */
  serverGone(): void {
    this.listener = undefined;
    for (const exchange of this.open) exchange.breakFor('client', this.delay());
    this.open.clear();
  }

  /** A client process ended. The server may not notice it for minutes. */
  clientGone(process: SimProcess, isNoticed: boolean): void {
    for (const exchange of this.open) {
      if (exchange.from === process) {
        exchange.breakFor('server', isNoticed ? this.delay() : 120_000);
      }
    }
  }

  /** Nothing reaches or leaves a process for a while. */
  cutOff(process: SimProcess, ms: number, breaks: boolean): void {
    this.outages.set(process, { until: this.simulation.now + ms, breaks });
    this.simulation.log('network', `${process.name} is cut off for ${Math.round(ms)} ms`);
    if (!breaks) return;
    for (const exchange of this.open) {
      if (exchange.from !== process) continue;
      exchange.breakFor('client', this.random.next() * ms);
      exchange.breakFor('server', this.random.next() * ms * 2);
    }
  }

  /** Every link works again, and from now on nothing gets lost. */
  heal(): void {
    this.outages.clear();
    Object.assign(this.knobs, { lossRate: 0, duplicateRate: 0, cutRate: 0 });
  }

  /** Sends a request. The returned function abandons the exchange, like a client that gives up. */
  request(from: SimProcess, request: ExchangeRequest, client: ClientSide): () => void {
    const exchange = this.makeExchange(from, request, client);
    const { knobs, random } = this;
    if (random.chance(knobs.lossRate)) {
      this.situations.note('a request was lost');
      // Half of these clients see a reset, the others see no reaction.
      exchange.breakFor('client', random.chance(0.5) ? this.delay() : CONNECT_MS_MAX);
      return () => exchange.giveUp();
    }
    this.deliver(exchange, this.delay(from));
    if (request.method !== 'GET' && random.chance(knobs.duplicateRate)) {
      this.situations.note('a request arrived twice');
      this.repeated.add(request);
      const again = this.makeExchange(from, request, NOBODY);
      this.deliver(again, this.delay(from) + random.logarithmic(1, 20_000));
    }
    return () => exchange.giveUp();
  }

  /** The delay of a message that is sent now. */
  delay(party?: SimProcess): number {
    const { random } = this;
    const usual = this.knobs.delayMs * (0.2 + random.next());
    const delay = random.chance(0.02) ? usual * random.logarithmic(2, 50) : usual;
    const outage = party === undefined ? undefined : this.outages.get(party);
    if (outage === undefined || outage.until <= this.simulation.now) return delay;
    return outage.until - this.simulation.now + delay;
  }

  private makeExchange(from: SimProcess, request: ExchangeRequest, client: ClientSide) {
    this.exchanges += 1;
    return new ServerExchange({
      id: this.exchanges,
      from,
      request,
      client,
      after: (delayMs, run) => this.simulation.after(delayMs, run),
      delay: () => this.delay(from),
      cutsNow: () => this.random.chance(this.knobs.cutRate),
      now: () => this.simulation.now,
      cutAt: (length) => this.random.integer(0, Math.max(0, length - 1)),
      closed: (exchange) => this.open.delete(exchange),
      noteCut: () => this.situations.note('an answer was cut in the middle'),
    });
  }

  private deliver(exchange: ServerExchange, delayMs: number): void {
    this.simulation.after(delayMs, () => {
      const { listener } = this;
      if (listener === undefined) {
        exchange.breakFor('client', this.delay());
        return;
      }
      this.open.add(exchange);
      exchange.server = listener.process;
      listener.process.hear(() => listener.handle(exchange));
    });
  }
}

const NOBODY: ClientSide = { head: () => {}, bytes: () => {}, ended: () => {} };
