/**
 * A thousand workers, each on a separate connection, and the load when all of them return at once.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ApiClient } from '../e2e/api-client.ts';
import { SessionUnderTest } from '../e2e/session-under-test.ts';
import { ServerProcess } from '../support/server-process.ts';
import type { PushedTask, Welcome } from '../support/worker-client.ts';

const SESSIONS = 1000;
/** Number of reports in flight when the server is killed. */
const IN_FLIGHT = 200;
/** Long enough that no worker needs a heartbeat. */
const LEASE_MS = 300_000;
const TYPE = 'one-each';

let folder: string;
let server: ServerProcess;
let api: ApiClient;
let workers: OneTaskWorker[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-many-'));
  server = await ServerProcess.startDev(folder);
  api = new ApiClient(server.url, 'http1');
  workers = [];
});

afterEach(async () => {
  api.close();
  for (const worker of workers) worker.disconnect();
  await server.kill();
  await rm(folder, { recursive: true });
});

/** Holds one task at a time, and lists it in every resume. */
class OneTaskWorker {
  private session: SessionUnderTest | undefined;
  private sessionId = '';
  private resumes = 0;
  /** The task whose final report has not been answered. */
  held: PushedTask | undefined;

  async connect(): Promise<Welcome> {
    this.session?.disconnect();
    const running = this.held === undefined ? [] : [this.held.lease];
    const resume = { sessionId: this.sessionId, running, number: ++this.resumes };
    const session = new SessionUnderTest(server.url, 'http1', {
      types: [{ type: TYPE }],
      capacity: { slots: 1 },
      leaseMs: LEASE_MS,
      ...(this.sessionId === '' ? {} : { resume }),
    });
    this.session = session;
    const welcome = await whileOpen(session, session.welcomed());
    this.sessionId = welcome.sessionId;
    return welcome;
  }

  async take(): Promise<PushedTask> {
    const session = this.session as SessionUnderTest;
    this.held = await whileOpen(session, session.takeTask());
    return this.held;
  }

  /** Returns the outcome. Rejects when there is no answer; then the task is still held. */
  async finish(): Promise<string> {
    const { lease, input } = this.held as PushedTask;
    const report = { lease, kind: 'succeeded', output: { echo: input } };
    const { body } = await api.report(this.sessionId, [report]);
    this.held = undefined;
    return body.outcomes[0];
  }

  /** Number of pushed tasks that the test did not expect. */
  get surplus(): number {
    return this.session?.waitingTasks ?? 0;
  }

  disconnect(): void {
    this.session?.disconnect();
  }
}

/** A stream that ends early is an error, not a long wait. */
function whileOpen<T>(session: SessionUnderTest, awaited: Promise<T>): Promise<T> {
  const closed = session.closed.then(() => {
    throw new Error('the stream ended');
  });
  return Promise.race([awaited, closed]);
}

/** Submits one task per worker, and returns the ids in the order of the inputs. */
async function submitForAll(round: string): Promise<string[]> {
  const inputs = workers.map((_, index) => `${round} ${index}`);
  const { status, body } = await api.post(
    '/v1/tasks',
    inputs.map((input) => ({ type: TYPE, input })),
  );
  expect(status).toBe(201);
  return body.items.map(({ id }: { id: string }) => id);
}

async function takeAll(): Promise<string[]> {
  const tasks = await Promise.all(workers.map((worker) => worker.take()));
  expect(tasks.filter(({ attempt }) => attempt !== 1)).toEqual([]);
  return tasks.map(({ id }) => id).sort();
}

async function checkEnds(ids: readonly string[]): Promise<void> {
  const { body } = await api.post('/v1/tasks/get', { ids });
  expect(body.items).toHaveLength(ids.length);
  for (const { state, attempt, input, output } of body.items) {
    expect([state, attempt, output]).toEqual(['succeeded', 1, { echo: input }]);
  }
}

test('a thousand workers come back to a restarted server: nothing is lost or doubled', async () => {
  for (let n = 0; n < SESSIONS; n++) workers.push(new OneTaskWorker());
  const welcomes = await Promise.all(workers.map((worker) => worker.connect()));
  expect(new Set(welcomes.map(({ sessionId }) => sessionId)).size).toBe(SESSIONS);

  const first = await submitForAll('first');
  expect(await takeAll()).toEqual([...first].sort());
  const idle = workers.filter((_, index) => index % 4 === 0);
  const outcomes = await Promise.all(idle.map((worker) => worker.finish()));
  expect(outcomes).toEqual(idle.map(() => 'ok'));

  const holders = workers.filter(({ held }) => held !== undefined);
  const cutOff = holders.slice(0, IN_FLIGHT).map((worker) => worker.finish());
  const settled = Promise.allSettled(cutOff);
  await server.kill();
  api.close();
  server = await ServerProcess.startDev(folder);
  api = new ApiClient(server.url, 'http1');
  const unanswered = (await settled).filter(({ status }) => status === 'rejected');
  expect(unanswered.length).toBeGreaterThan(0);

  // A report may have been accepted although its answer was lost. Such a lease is listed but over.
  const resumed = await Promise.all(workers.map((worker) => worker.connect()));
  const kept = holders.slice(IN_FLIGHT).map((worker) => resumed[workers.indexOf(worker)]);
  expect(kept.filter((welcome) => !welcome.resumed || welcome.lost.length > 0)).toEqual([]);
  const late = workers.filter(({ held }) => held !== undefined);
  expect(late.length).toBe(holders.length - IN_FLIGHT + unanswered.length);
  const ends = new Set(await Promise.all(late.map((worker) => worker.finish())));
  expect([...ends].filter((outcome) => outcome !== 'ok' && outcome !== 'duplicate')).toEqual([]);
  await checkEnds(first);

  const second = await submitForAll('second');
  expect(await takeAll()).toEqual([...second].sort());
  await Promise.all(workers.map((worker) => worker.finish()));
  await checkEnds(second);
  expect(workers.filter(({ surplus }) => surplus > 0)).toEqual([]);
});
