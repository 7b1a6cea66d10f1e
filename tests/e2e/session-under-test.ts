import { connectHttp, type HttpStream, type Protocol } from '../support/http-client.ts';
import {
  type CancelNotice,
  openWorkerStream,
  type PushedTask,
  type SessionRequest,
  type SignalNotice,
  type Welcome,
} from '../support/worker-client.ts';

/** A worker session that a test drives by hand. What arrives waits until the test asks for it. */
export class SessionUnderTest {
  private readonly http;
  private readonly stream: HttpStream;
  private readonly tasks: PushedTask[] = [];
  private readonly cancels: CancelNotice[] = [];
  private readonly signals: SignalNotice[] = [];
  private welcome: Welcome | undefined;
  private arrived: (() => void)[] = [];

  constructor(url: string, protocol: Protocol, request: Partial<SessionRequest> = {}) {
    this.http = connectHttp(protocol, url);
    const body = { name: 'test-worker', types: [{ type: 'hello' }], ...request };
    this.stream = openWorkerStream(this.http, body, {
      onWelcome: (welcome) => {
        this.welcome = welcome;
        this.wake();
      },
      onCancel: (notice) => {
        this.cancels.push(notice);
        this.wake();
      },
      onSignal: (notice) => {
        this.signals.push(notice);
        this.wake();
      },
      onTasks: (tasks) => {
        this.tasks.push(...tasks);
        this.wake();
      },
    });
  }

  async welcomed(): Promise<Welcome> {
    while (this.welcome === undefined) await this.next();
    return this.welcome;
  }

  takeTask(): Promise<PushedTask> {
    return this.take(this.tasks);
  }

  takeCancel(): Promise<CancelNotice> {
    return this.take(this.cancels);
  }

  takeSignal(): Promise<SignalNotice> {
    return this.take(this.signals);
  }

  /** Number of tasks that were pushed and not taken by the test. */
  get waitingTasks(): number {
    return this.tasks.length;
  }

  /** Resolves when the server ended the stream. */
  get closed(): Promise<void> {
    return this.stream.closed;
  }

  /** Breaks the connection, like a network failure. */
  disconnect(): void {
    this.http.close();
  }

  private async take<T>(arrived: T[]): Promise<T> {
    for (;;) {
      const first = arrived.shift();
      if (first !== undefined) return first;
      await this.next();
    }
  }

  private next(): Promise<void> {
    return new Promise((resolve) => {
      this.arrived.push(resolve);
    });
  }

  private wake(): void {
    for (const resolve of this.arrived.splice(0)) resolve();
  }
}
