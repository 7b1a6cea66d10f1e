import { connectHttp, type HttpClient, type Protocol } from '../support/http-client.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { Flight } from './flight.ts';
import { chooseMoment, IN_FLIGHT_MIN, killAt } from './kill-moment.ts';
import type { Ledger } from './ledger.ts';
import { LedgerWorker } from './ledger-worker.ts';
import { Load } from './load.ts';
import type { Random } from './random.ts';

export interface RoundsOptions {
  readonly dataFolder: string;
  readonly ledger: Ledger;
  readonly random: Random;
  readonly startServer: (dataFolder: string) => Promise<ServerProcess>;
}

export interface Round {
  readonly number: number;
  readonly protocol: Protocol;
  /** The server is paused for longer than a lease before it is killed. */
  readonly standsStill: boolean;
}

export interface RoundResult {
  /** Requests that were sent and lost their connection because of the kill. */
  readonly inFlight: number;
  /** Tasks acknowledged in this round. */
  readonly acked: number;
  /** Time from the kill until the next server said that it is ready. */
  readonly recoveredMs: number;
}

/** Slow workers hold leases across kills; the fast one keeps the backlog small. */
const WORKERS = [
  { slots: 400, holdMsMax: 0 },
  { slots: 100, holdMsMax: 60 },
  { slots: 100, holdMsMax: 300 },
] as const;

const LEASE_MS = 15_000;
/** For rounds with a standstill. */
const SHORT_LEASE_MS = 3000;
const STANDSTILL_MS = 1.5 * SHORT_LEASE_MS;
const SUBMITS_AT_ONCE = 100;
const BURST_SUBMITS = 150;
const READS_AT_ONCE = 100;
const WELCOME_MS_MAX = 30_000;
const DRAIN_MS_MAX = 90_000;

/** Runs one server after the other on the same folder. The workers and the load outlive them. */
export class Rounds {
  private readonly options: RoundsOptions;
  private readonly workers: readonly LedgerWorker[];
  private readonly load: Load;
  private server: ServerProcess;

  private constructor(options: RoundsOptions, server: ServerProcess) {
    const { ledger, random } = options;
    this.options = options;
    this.server = server;
    this.load = new Load(ledger, random.fork());
    this.workers = WORKERS.map(
      (each, number) => new LedgerWorker({ ...each, number, ledger, random: random.fork() }),
    );
  }

  static async start(options: RoundsOptions): Promise<Rounds> {
    return new Rounds(options, await options.startServer(options.dataFolder));
  }

  /** Loads the server, kills it at some moment, and starts the next one. */
  async play({ number, protocol, standsStill }: Round): Promise<RoundResult> {
    const { ledger, random } = this.options;
    const ackedBefore = ledger.ackedTasks.size;
    const moment = chooseMoment(random);
    const flight = new Flight();
    const leaseMs = standsStill ? SHORT_LEASE_MS : LEASE_MS;
    const clients = this.connectWorkers(protocol, flight, leaseMs);
    // A session that was never welcomed cannot be resumed, so the first welcome is always awaited.
    const hasSessions = this.workers.every(({ hasSession }) => hasSession);
    if (!moment.isEarly || !hasSessions || standsStill) await this.welcomed();
    const submitting = connectHttp(protocol, this.server.url);
    const burst = (): void => this.load.burst(submitting, flight, BURST_SUBMITS);
    this.load.start(submitting, flight, SUBMITS_AT_ONCE);
    // The first burst opens the sockets that the last one will use.
    burst();
    if (standsStill) await this.standStill(number, flight);

    let killedAt = 0;
    let gone: Promise<void> | undefined;
    const kill = (): void => {
      ledger.write({ kind: 'killing', round: number });
      this.load.stop();
      for (const worker of this.workers) worker.suspend();
      this.noteCrash();
      killedAt = performance.now();
      gone = this.server.kill();
      flight.end();
    };
    await killAt(moment, { ledger, flight, burst, kill });
    await gone;
    await this.load.settled();
    for (const worker of this.workers) await worker.disconnected();
    for (const client of [submitting, ...clients]) client.close();

    this.server = await this.options.startServer(this.options.dataFolder);
    const recoveredMs = Math.round(performance.now() - killedAt);
    const acked = ledger.ackedTasks.size - ackedBefore;
    return { inFlight: flight.broken, acked, recoveredMs };
  }

  /**
   * Lets the workers finish everything, and records how each acknowledged task ended. A task that
   * is not finished in time is recorded as it is, and the verdict reports it.
   */
  async drain(): Promise<void> {
    const { ledger } = this.options;
    const giveUpAt = performance.now() + DRAIN_MS_MAX;
    const flight = new Flight();
    const clients = this.connectWorkers('h2c', flight, LEASE_MS);
    const http = connectHttp('h2c', this.server.url);
    await this.welcomed();
    await this.load.repeatAll(http, flight);
    // This task joins the tail of the queue. When it has ended, all tasks before it were pushed.
    await this.load.submitLast(http, flight);

    const ids = ledger.ackedTasks.values();
    const readers = Array.from({ length: READS_AT_ONCE }, async () => {
      for (const id of ids) await this.writeEnd(http, id, giveUpAt);
    });
    await Promise.all(readers);
    const isDrained = (): boolean =>
      ledger.incompleteBatches === 0 && this.workers.every(({ isIdle }) => isIdle);
    await waitUntil(() => isDrained() || performance.now() > giveUpAt, {
      what: 'the workers are done',
      timeoutMs: DRAIN_MS_MAX * 2,
    });
    this.noteCrash();
    await this.close();
    for (const client of [http, ...clients]) client.close();
  }

  /** Ends the server; safe at any time. */
  async close(): Promise<void> {
    await this.server.kill();
  }

  private connectWorkers(protocol: Protocol, flight: Flight, leaseMs: number): HttpClient[] {
    return this.workers.map((worker) => {
      const http = connectHttp(protocol, this.server.url);
      worker.connect(http, flight, leaseMs);
      return http;
    });
  }

  /**
   * Pauses the server in the middle of its work for longer than a lease, then continues it. No
   * worker may lose a lease by this, because its messages still wait to be read.
   */
  private async standStill(round: number, flight: Flight): Promise<void> {
    const { ledger } = this.options;
    const timeoutMs = WELCOME_MS_MAX;
    const isBusy = (): boolean => flight.inFlight >= IN_FLIGHT_MIN;
    await waitUntil(isBusy, { what: `${IN_FLIGHT_MIN} requests are in flight`, timeoutMs });
    ledger.write({ kind: 'stopping', round });
    this.server.signal('SIGSTOP');
    const goesOnAt = performance.now() + STANDSTILL_MS;
    await waitUntil(() => performance.now() >= goesOnAt, { what: 'a lease is over', timeoutMs });
    const acked = ledger.ackedTasks.size;
    this.server.signal('SIGCONT');
    const goesOn = (): boolean => ledger.ackedTasks.size > acked;
    await waitUntil(goesOn, { what: 'the server goes on', timeoutMs });
  }

  private async welcomed(): Promise<void> {
    await waitUntil(() => this.workers.every(({ isWelcome }) => isWelcome), {
      what: 'every worker is welcome',
      timeoutMs: WELCOME_MS_MAX,
    });
  }

  private async writeEnd(http: HttpClient, id: string, giveUpAt: number): Promise<void> {
    const timeoutMs = Math.round(Math.max(0, Math.min(30_000, giveUpAt - performance.now())));
    const path = `/v1/tasks/${id}/wait?timeoutMs=${timeoutMs}`;
    const { status, text } = await http.send({ method: 'GET', path });
    const answer = JSON.parse(text) as { state: string; attempt: number; output: unknown };
    const { state, attempt, output } =
      status === 200 ? answer : { state: `missing (${status})`, attempt: 0, output: null };
    this.options.ledger.write({ kind: 'ended', task: id, state, attempt, output });
  }

  private noteCrash(): void {
    if (!this.server.hasCrashed) return;
    const problem = `the server ended by itself: ${this.server.lastOutput}`;
    this.options.ledger.write({ kind: 'unexpected', problem });
  }
}
