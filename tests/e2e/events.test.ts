import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ApiClient } from './api-client.ts';
import { SessionUnderTest } from './session-under-test.ts';

const TIMEOUT_MS = 20_000;

let folder: string;
let server: ServerProcess;
let api: ApiClient;
let session: SessionUnderTest;
let sessionId: string;
let readers: EventReader[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-events-'));
  readers = [];
  await start(0);
});

afterEach(async () => {
  for (const reader of readers) reader.close();
  session.disconnect();
  api.close();
  await server.kill();
  await rm(folder, { recursive: true });
});

async function start(port: string | number): Promise<void> {
  server = await ServerProcess.startDev(folder, undefined, port);
  api = new ApiClient(server.url, 'http1');
  session = new SessionUnderTest(server.url, 'http1');
  ({ sessionId } = await session.welcomed());
}

async function killAndRestart(): Promise<void> {
  session.disconnect();
  api.close();
  await server.kill();
  await start(new URL(server.url).port);
}

interface Heard {
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/** Reads a stream like a browser: the last id counts, with or without an event. */
class EventReader {
  readonly heard: Heard[] = [];
  lastId = '';
  isEnded = false;
  private readonly aborting = new AbortController();

  static async open(query = '', lastEventId?: string): Promise<EventReader> {
    const reader = new EventReader();
    readers.push(reader);
    const headers: Record<string, string> = {};
    if (lastEventId !== undefined) headers['last-event-id'] = lastEventId;
    const { signal } = reader.aborting;
    const answer = await fetch(`${server.url}/v1/events${query}`, { headers, signal });
    expect(answer.status).toBe(200);
    void reader.read(answer.body as ReadableStream<Uint8Array>).catch(() => undefined);
    return reader;
  }

  close(): void {
    this.aborting.abort();
  }

  changes(): string[] {
    const changes = this.heard.filter(({ event }) => event === 'change');
    return changes.map(({ data: { from, to, reason } }) => `${from} > ${to}: ${reason}`);
  }

  async has(count: number): Promise<void> {
    await waitUntil(() => this.changes().length >= count, {
      what: `${count} changes`,
      timeoutMs: TIMEOUT_MS,
    });
  }

  private async read(body: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of body) {
      text += decoder.decode(chunk, { stream: true });
      const frames = text.split('\n\n');
      text = frames.pop() ?? '';
      for (const frame of frames) this.hear(frame);
    }
    this.isEnded = true;
  }

  private hear(frame: string): void {
    const lines = frame.split('\n').map((line) => /^(\w+): (.*)$/.exec(line) as RegExpExecArray);
    const fields = Object.fromEntries(lines.map(([, name, value]) => [name, value]));
    if (fields.id !== undefined) this.lastId = fields.id;
    if (fields.data === undefined) return;
    this.heard.push({ event: fields.event, data: JSON.parse(fields.data) });
  }
}

async function submit(task: object = {}): Promise<string> {
  const { status, body } = await api.post('/v1/tasks', { type: 'hello', ...task });
  expect(status).toBe(201);
  return body.id;
}

async function runTask(): Promise<string> {
  const id = await submit();
  const { lease } = await session.takeTask();
  await api.report(sessionId, [{ lease, kind: 'succeeded', output: 1 }]);
  return id;
}

function positionOf(id: string): number {
  return Number(id.split('-')[1]);
}

const LIFE = [
  'null > queued: submitted',
  'queued > leased: leased',
  'leased > succeeded: succeeded',
];

test('every change of a task is told, in order', async () => {
  const reader = await EventReader.open();
  const id = await runTask();

  await reader.has(3);
  expect(reader.changes()).toEqual(LIFE);
  expect(reader.heard[2].data).toEqual({
    task: id,
    type: 'hello',
    from: 'leased',
    to: 'succeeded',
    reason: 'succeeded',
    attempt: 1,
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
  });
});

test('a stream can be of one task or of one type', async () => {
  const id = await submit({ type: 'later' });
  const ofTask = await EventReader.open(`?task=${id}`);
  const ofType = await EventReader.open('?type=other');
  await runTask();
  await submit({ type: 'other' });
  await api.post(`/v1/tasks/${id}/cancel`);

  await Promise.all([ofTask.has(1), ofType.has(1)]);
  expect(ofTask.changes()).toEqual(['queued > cancelled: cancelled']);
  expect(ofType.heard.map(({ data }) => data.type)).toEqual(['other']);
});

test('who was cut off goes on where he was', async () => {
  const first = await EventReader.open();
  await runTask();
  await first.has(3);
  first.close();
  await runTask();

  const second = await EventReader.open('', first.lastId);
  await second.has(3);
  expect(second.changes()).toEqual(LIFE);
  expect(second.heard.map(({ event }) => event)).not.toContain('gap');
});

test('a reader that saw no change yet knows its place', async () => {
  await api.post('/v1/tasks', { type: 'hello' });
  const reader = await EventReader.open();

  await waitUntil(() => reader.lastId !== '', { what: 'an id', timeoutMs: TIMEOUT_MS });

  expect(reader.heard).toEqual([]);
});

test('what a restart took is a gap, and what comes after it is told', async () => {
  const first = await EventReader.open();
  await runTask();
  await first.has(3);
  await submit({ type: 'later' });
  await killAndRestart();

  const second = await EventReader.open('', first.lastId);
  await runTask();
  await second.has(3);
  expect(second.heard[0]).toEqual({
    event: 'gap',
    data: { from: positionOf(first.lastId) + 1, to: expect.any(Number) },
  });
  expect(second.changes()).toEqual(LIFE);
});

test.each([
  ['beyond the tail', (id: string) => id.replace(/-.*/, '-999999')],
  ['of another log', () => 'c0ffeec0ffee-1'],
  ['that is a bare position', (id: string) => id.replace(/.*-/, '')],
])('an id %s is a gap, and what comes is told', async (_what, change) => {
  const first = await EventReader.open();
  await runTask();
  await first.has(3);

  const second = await EventReader.open('', change(first.lastId));
  await submit({ type: 'later' });
  await second.has(4);
  expect(second.heard[0]).toMatchObject({ event: 'gap', data: { from: 0 } });
  expect(second.changes()).toEqual([...LIFE, 'null > queued: submitted']);
});

test('who follows is told that the server goes away', async () => {
  const reader = await EventReader.open();
  server.signal('SIGTERM');

  await waitUntil(() => reader.isEnded, { what: 'the stream ends', timeoutMs: TIMEOUT_MS });
  expect(reader.heard.at(-1)).toEqual({ event: 'drain', data: {} });
});

test('a task that nobody knows has no events', async () => {
  for (const id of ['nonsense', 't_01k7f6b1oj0000000001']) {
    const { status, body } = await api.get(`/v1/events?task=${id}`);
    expect([status, body.error.code]).toEqual([404, 'task_not_found']);
  }
});

test.each([
  ['?kind=x', {}, 'kind'],
  ['', { 'last-event-id': 'abc' }, 'Last-Event-ID'],
])('%s with %o is refused by name', async (query, headers, name) => {
  const answer = await fetch(`${server.url}/v1/events${query}`, { headers });

  expect(answer.status).toBe(400);
  const { error } = (await answer.json()) as { error: { message: string } };
  expect(JSON.stringify(error)).toContain(name);
});

test('an event that a step publishes is in the stream of its run, and comes once', async () => {
  const step = (reference: string, order: unknown) => ({
    taskReferenceName: reference,
    type: 'EVENT',
    sink: `sluice:order.${reference}`,
    inputParameters: { order },
  });
  const wait = { taskReferenceName: 'hold', type: 'HUMAN' };
  const definition = { tasks: [wait, step('paid', 7), step('large', 'x'.repeat(20_000))] };
  const { body: run } = await api.post('/v1/runs', { workflow: 'shop', definition });
  const { body: other } = await api.post('/v1/runs', { workflow: 'shop', definition });
  const reader = await EventReader.open(`?run=${run.id}`);
  const ofTasks = await EventReader.open('?type=paid');

  for (const { id } of [other, run]) await api.post(`/v1/runs/${id}/steps/hold/complete`, {});
  const published = () => reader.heard.filter(({ event }) => event === 'published');
  const isThere = () => published().length === 2;
  await waitUntil(isThere, { what: 'both events arrive', timeoutMs: TIMEOUT_MS });

  const common = { run: run.id, workflow: 'shop' };
  expect(published().map(({ data }) => data)).toMatchObject([
    {
      ...common,
      event: 'order.paid',
      step: 'paid',
      payload: { order: 7, workflowInstanceId: run.id, event_produced: 'order.paid' },
    },
    { ...common, event: 'order.large', step: 'large', payload: null },
  ]);
  expect(ofTasks.heard.some(({ event }) => event === 'published')).toBe(false);
});

test('with asyncComplete an event is published once, when its step starts', async () => {
  const definition = {
    tasks: [
      { taskReferenceName: 'hold', type: 'HUMAN' },
      { taskReferenceName: 'asked', type: 'EVENT', sink: 'sluice:asked', asyncComplete: true },
    ],
    outputParameters: { answer: '${asked.output.event_produced}' },
  };
  const { body: run } = await api.post('/v1/runs', { workflow: 'shop', definition });
  const reader = await EventReader.open(`?run=${run.id}`);
  const published = () => reader.heard.filter(({ event }) => event === 'published');

  await api.post(`/v1/runs/${run.id}/steps/hold/complete`, {});
  const isThere = () => published().length === 1;
  await waitUntil(isThere, { what: 'the event arrives', timeoutMs: TIMEOUT_MS });
  expect((await api.get(`/v1/runs/${run.id}`)).body.steps[1].state).toBe('running');
  // Somebody gives back what the event said.
  const [{ data }] = published();
  const { payload } = data as { payload: object };
  await api.post(`/v1/runs/${run.id}/steps/asked/complete`, { output: payload });

  const { body } = await api.get(`/v1/runs/${run.id}/wait?timeoutMs=20000`);
  expect(body).toMatchObject({ status: 'succeeded', output: { answer: 'asked' } });
  // A later event shows that nothing came between.
  const { body: other } = await api.post('/v1/runs', { workflow: 'shop', definition });
  const all = await EventReader.open(`?run=${other.id}`);
  await api.post(`/v1/runs/${other.id}/steps/hold/complete`, {});
  const isLater = () => all.heard.some(({ event }) => event === 'published');
  await waitUntil(isLater, { what: 'a later event arrives', timeoutMs: TIMEOUT_MS });
  expect(published()).toHaveLength(1);
});

test('a run that is late with ALERT_ONLY is news, and counts', async () => {
  const reader = await EventReader.open();
  const definition = {
    tasks: [{ taskReferenceName: 'hold', type: 'HUMAN' }],
    timeoutSeconds: 1,
    timeoutPolicy: 'ALERT_ONLY',
  };
  const { body: run } = await api.post('/v1/runs', { workflow: 'slow', definition });

  const news = () => reader.heard.find(({ event }) => event === 'published');
  await waitUntil(() => news() !== undefined, { what: 'the alert', timeoutMs: TIMEOUT_MS });

  const about = { event: 'run.overdue', run: run.id, workflow: 'slow', step: null };
  expect(news()?.data).toMatchObject(about);
  expect((await api.get(`/v1/runs/${run.id}`)).body.status).toBe('running');
  const metrics = await (await fetch(`${server.ownerUrl}/metrics`)).text();
  expect(metrics).toContain('sluice_runs_overdue_total 1');
});
