/**
 * The worker in a separate process. It takes pushes, does nothing, and reports success.
 *
 * At most two report requests are in flight. Results that gather meanwhile go into the next one, as
 * in the SDK.
 */
import { type Connection, openConnection, type Protocol, wallClockMs } from './connection.ts';

export interface WorkerOrder {
  readonly url: string;
  readonly protocol: Protocol;
  readonly tasks: number;
  readonly slots: number;
}

export interface WorkerReport {
  readonly finishedAt: number;
  readonly cpuMs: number;
  /** From the time in the input to the handler, sorted; empty when tasks carry no time. */
  readonly latenciesMs: readonly number[];
  readonly reportRequests: number;
}

const REPORTS_IN_FLIGHT = 2;
const REPORTS_PER_REQUEST = 1000;

interface PushedTask {
  readonly lease: string;
  readonly input: { readonly at: number };
}

class BenchWorker {
  private readonly order: WorkerOrder;
  private readonly streamConnection: Connection;
  private readonly reportConnections: Connection[];
  private text = '';
  private path = '';
  private waiting: string[] = [];
  private finished = 0;
  private reportRequests = 0;
  private readonly latenciesMs: number[] = [];
  private readonly cpu = process.cpuUsage();

  constructor(order: WorkerOrder) {
    this.order = order;
    this.streamConnection = openConnection(order.protocol, order.url);
    this.reportConnections = Array.from({ length: REPORTS_IN_FLIGHT }, () =>
      openConnection(order.protocol, order.url),
    );
    const session = {
      name: 'bench',
      types: [{ type: 'bench' }],
      capacity: { slots: order.slots },
    };
    this.streamConnection.stream('/v1/worker-sessions', JSON.stringify(session), (content) =>
      this.take(content.toString('latin1')),
    );
  }

  private take(content: string): void {
    this.text += content;
    for (let end = this.text.indexOf('\n\n'); end >= 0; end = this.text.indexOf('\n\n')) {
      this.handle(this.text.slice(0, end));
      this.text = this.text.slice(end + 2);
    }
  }

  private handle(event: string): void {
    const data = event.slice(event.indexOf('\ndata: ') + 7);
    if (event.startsWith('event: welcome')) {
      const { sessionId } = JSON.parse(data) as { sessionId: string };
      this.path = `/v1/worker-sessions/${sessionId}/reports`;
      process.send?.('ready');
    } else if (event.startsWith('event: tasks')) {
      const now = wallClockMs();
      for (const { lease, input } of JSON.parse(data) as PushedTask[]) {
        if (input.at > 0) this.latenciesMs.push(now - input.at);
        this.waiting.push(lease);
      }
      void this.report();
    }
  }

  private async report(): Promise<void> {
    const connection = this.reportConnections.pop();
    if (connection === undefined) return;
    while (this.waiting.length > 0) {
      const leases = this.waiting.splice(0, REPORTS_PER_REQUEST);
      const reports = leases.map(
        (lease) => `{"lease":"${lease}","kind":"succeeded","output":true}`,
      );
      const answer = await connection.post(this.path, `{"reports":[${reports.join(',')}]}`);
      const { outcomes } = JSON.parse(answer.toString('latin1')) as { outcomes: string[] };
      if (!outcomes.every((outcome) => outcome === 'ok')) throw new Error('a report was refused');
      this.reportRequests += 1;
      this.finished += leases.length;
    }
    this.reportConnections.push(connection);
    if (this.finished === this.order.tasks) this.done();
  }

  private done(): void {
    const { user, system } = process.cpuUsage(this.cpu);
    const report: WorkerReport = {
      finishedAt: wallClockMs(),
      cpuMs: (user + system) / 1000,
      latenciesMs: this.latenciesMs.sort((a, b) => a - b),
      reportRequests: this.reportRequests,
    };
    process.send?.(report, () => process.exit());
  }
}

process.once('message', (order: WorkerOrder) => new BenchWorker(order));
