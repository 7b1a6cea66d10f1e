import { connectHttp, type HttpStream, type Protocol } from '../support/http-client.ts';
import {
  type CancelNotice,
  openWorkerStream,
  type PushedTask,
  type SessionRequest,
  type Welcome,
} from '../support/worker-client.ts';

/** A worker session that a test drives by hand: what arrives waits until the test asks for it. */
export class SessionUnderTest {
  private readonly http;
  private readonly stream: HttpStream;
  private readonly tasks: PushedTask[] = [];
  private readonly cancels: CancelNotice[] = [];
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

  async takeTask(): Promise<PushedTask> {
    for (;;) {
      const task = this.tasks.shift();
      if (task !== undefined) return task;
      await this.next();
    }
  }

  async takeCancel(): Promise<CancelNotice> {
    for (;;) {
      const notice = this.cancels.shift();
      if (notice !== undefined) return notice;
      await this.next();
    }
  }

  /** Pushed and not taken by the test. */
  get waitingTasks(): number {
    return this.tasks.length;
  }

  /** Resolves when the server ended the stream. */
  get closed(): Promise<void> {
    return this.stream.closed;
  }

  /** Breaks the connection, as a network would. */
  disconnect(): void {
    this.http.close();
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
