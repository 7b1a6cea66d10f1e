import type { RandomStream } from '../kernel/random.ts';
import type { SimProcess } from '../kernel/sim-process.ts';
import type { Simulation } from '../kernel/simulation.ts';
import type { Situations } from '../situations.ts';
import type { ClientSide, ExchangeRequest } from './exchange.ts';
import { ServerExchange } from './server-exchange.ts';

/** How bad the network is all the time. */
export interface NetworkKnobs {
  /** Usual delay of a message, in milliseconds; some take ten times as long. */
  readonly delayMs: number;
  /** Of requests, how many never arrive. */
  readonly lossRate: number;
  /** Of requests, how many arrive a second time, later. */
  readonly duplicateRate: number;
  /** Of what the server writes, how often the connection breaks in the middle of it. */
  readonly cutRate: number;
}

/** Who answers requests: a server that runs. */
export interface Listener {
  readonly process: SimProcess;
  handle(exchange: ServerExchange): void;
}

/** A link that carries nothing for a while. */
interface Outage {
  readonly until: number;
  readonly breaks: boolean;
}

/** After so long without an answer to its first packet a client gives up. */
const CONNECT_MS_MAX = 10_000;

/**
 * The network between one server and everybody else.
 *
 * Bytes of one exchange arrive in order or not at all; exchanges overtake each other. Who is on the
 * other end of a connection that broke may hear of it late, or only when it writes.
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

  /** The server's process is gone: all its connections break, sooner or later. */
  serverGone(): void {
    this.listener = undefined;
    for (const exchange of this.open) exchange.breakFor('client', this.delay());
    this.open.clear();
  }

  /** A client's process is gone. The server may not hear of it for minutes. */
  clientGone(process: SimProcess, isNoticed: boolean): void {
    for (const exchange of this.open) {
      if (exchange.from === process) {
        exchange.breakFor('server', isNoticed ? this.delay() : 120_000);
      }
    }
  }

  /** Nothing gets through to or from a process for a while. */
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

  /** Every link works again, and nothing gets lost from here on. */
  heal(): void {
    this.outages.clear();
    Object.assign(this.knobs, { lossRate: 0, duplicateRate: 0, cutRate: 0 });
  }

  /** Sends a request. The answer lets go of the exchange, as a client that gives up does. */
  request(from: SimProcess, request: ExchangeRequest, client: ClientSide): () => void {
    const exchange = this.makeExchange(from, request, client);
    const { knobs, random } = this;
    if (random.chance(knobs.lossRate)) {
      this.situations.note('a request was lost');
      // Half of them are reset, the others meet silence.
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

  /** How long a message takes that is sent now. */
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
