/** Submits and finishes tasks, and remembers the server's answer for each. */
import { connectHttp, type HttpClient } from '../support/http-client.ts';
import { openWorkerStream, type PushedTask, sendReports } from '../support/worker-client.ts';

const TASKS_PER_SUBMIT = 50;
const SUBMITTERS = 2;
/** Maximum number of unfinished tasks, so that most of the submitted tasks have ended. */
const OPEN_MAX = 400;
const PADDING = 'x'.repeat(600);

/** What is known about tasks at one moment. */
export interface Known {
  /** Ids of tasks that the server acknowledged. */
  readonly submitted: ReadonlySet<string>;
  /** Ids of tasks whose success the server acknowledged. */
  readonly finished: ReadonlySet<string>;
  /** Ids of tasks whose success was reported, answered or not. */
  readonly reported: ReadonlySet<string>;
}

export class BackupLoad {
  private readonly submitting: HttpClient;
  private readonly working: HttpClient;
  private readonly submitted = new Set<string>();
  private readonly finished = new Set<string>();
  private readonly reported = new Set<string>();
  private isRunning = true;
  private loops: Promise<void>[] = [];

  constructor(url: string) {
    this.submitting = connectHttp('h2c', url);
    this.working = connectHttp('h2c', url);
  }

  get known(): Known {
    const { submitted, finished, reported } = this;
    return {
      submitted: new Set(submitted),
      finished: new Set(finished),
      reported: new Set(reported),
    };
  }

  start(): void {
    this.work();
    this.loops = Array.from({ length: SUBMITTERS }, () => this.submitOn());
  }

  async stop(): Promise<void> {
    this.isRunning = false;
    await Promise.all(this.loops);
    this.submitting.close();
    this.working.close();
  }

  private async submitOn(): Promise<void> {
    const body = Array(TASKS_PER_SUBMIT).fill({ type: 'load', input: PADDING });
    while (this.isRunning) {
      if (this.submitted.size - this.finished.size > OPEN_MAX) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        continue;
      }
      const path = '/v1/tasks';
      const { status, text } = await this.submitting.send({ method: 'POST', path, body });
      if (status !== 201) throw new Error(`a submit was answered with ${status}: ${text}`);
      const { items } = JSON.parse(text) as { items: { id: string }[] };
      for (const { id } of items) this.submitted.add(id);
    }
  }

  private work(): void {
    let session = '';
    const request = { name: 'worker', types: [{ type: 'load' }], capacity: { slots: 100 } };
    openWorkerStream(this.working, request, {
      onWelcome: ({ sessionId }) => {
        session = sessionId;
      },
      onTasks: (pushed) => void this.finish(session, pushed),
    });
  }

  /** The output of a task is its id, so a mixed-up output shows. */
  private async finish(session: string, pushed: readonly PushedTask[]): Promise<void> {
    for (const { id } of pushed) this.reported.add(id);
    const reports = pushed.map(({ id, lease }) => {
      return { lease, kind: 'succeeded', output: id } as const;
    });
    // At the end of the test the connection breaks.
    const outcomes = await sendReports(this.working, session, { reports }).catch(() => []);
    outcomes.forEach((outcome, place) => {
      if (outcome === 'ok') this.finished.add(pushed[place].id);
    });
  }
}
