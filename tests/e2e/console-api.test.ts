/** Calls that exist for the console, as any client may use them. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Sluice } from '@sluice/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, KeyedApi } from '../support/keyed-api.ts';
import { ServerProcess } from '../support/server-process.ts';

let folder: string;
let server: ServerProcess;
let api: KeyedApi;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-console-'));
  server = await ServerProcess.startDev(folder);
  api = new KeyedApi(server.url);
});

afterAll(async () => {
  await server.kill();
  await rm(folder, { recursive: true });
});

interface Event {
  readonly name: string;
  // biome-ignore lint/suspicious/noExplicitAny: a wrong guess fails the test
  readonly data: any;
}

/** The events of a stream, until the reader breaks off. */
async function* eventsOf(path: string): AsyncGenerator<Event, void, undefined> {
  const response = await fetch(server.url + path);
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    const frames = text.split('\n\n');
    text = frames.pop() ?? '';
    for (const frame of frames) {
      const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(frame) ?? [];
      if (name !== undefined) yield { name, data: JSON.parse(data) };
    }
  }
}

async function put(path: string, body: unknown): Promise<Answer> {
  const answer = await api.call({ method: 'PUT', path, body });
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer;
}

test('a follower of changes is told at the start, after a change, and of silence', async () => {
  const seen: string[] = [];
  for await (const { name } of eventsOf('/v1/changes')) {
    seen.push(name);
    if (seen.length === 1) await api.post('/v1/tasks', { type: 'told' });
    if (name === 'ping') break;
  }

  expect(seen.slice(0, 2)).toEqual(['changed', 'changed']);
  expect(seen.at(-1)).toBe('ping');
});

test('what a change is about can be read as soon as the follower is told', async () => {
  let isSubmitted = false;
  for await (const { name } of eventsOf('/v1/changes')) {
    if (!isSubmitted) {
      await api.post('/v1/tasks', { type: 'readable' });
      isSubmitted = true;
    } else if (name === 'changed') break;
  }

  const { body } = await api.get('/v1/tasks?type=readable');
  expect(body.items).toHaveLength(1);
});

test('stats that are followed come whole first, then what is new', async () => {
  const events: Event[] = [];
  for await (const event of eventsOf('/v1/stats?window=10m&follow')) {
    events.push(event);
    if (events.length === 1) await api.post('/v1/tasks', [{ type: 'a' }, { type: 'a' }]);
    // Tasks of other tests may be in the same second.
    const isThere = event.data.items.some((point: { in: number }) => point.in >= 2);
    if (events.length > 1 && isThere) break;
  }

  expect(events[0]).toMatchObject({ name: 'stats', data: { window: '10m', stepMs: 1000 } });
  expect(events.slice(1).every(({ name }) => name === 'points')).toBe(true);
  const newest = events.at(-1)?.data.items.length as number;
  expect(newest).toBeLessThanOrEqual(3);
});

test('the definition of a run is there, registered or not', async () => {
  const definition = { tasks: [{ taskReferenceName: 'ask', type: 'HUMAN' }] };
  await put('/v1/workflows/known/versions/3', definition);
  const { body: own } = await api.post('/v1/runs', { workflow: 'own', definition });
  const { body: known } = await api.post('/v1/runs', { workflow: 'known' });

  const first = await api.get(`/v1/runs/${own.id}/definition`);
  const second = await api.get(`/v1/runs/${known.id}/definition`);

  expect(first.body).toEqual({ workflow: 'own', version: null, definition });
  expect(second.body).toEqual({ workflow: 'known', version: 3, definition });
});

test('the calendar counts the times of all active schedules, and no others', async () => {
  await put('/v1/schedules/hourly', { spec: { cron: '0 * * * *' }, task: { type: 'x' } });
  await put('/v1/schedules/often', { spec: { everyMs: 60_000 }, task: { type: 'x' } });
  await put('/v1/schedules/stopped', { spec: { everyMs: 100 }, task: { type: 'x' }, paused: true });
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);

  const { body: day } = await api.get('/v1/schedule-calendar');
  const { body: month } = await api.get('/v1/schedule-calendar?window=30d');

  expect(day).toMatchObject({ stepMs: 900_000, isComplete: true });
  expect(day.counts).toHaveLength(96);
  // The window begins with the current quarter of an hour, of which a part is over.
  expect(sum(day.counts)).toBeGreaterThanOrEqual(23 + 1440 - 16);
  expect(sum(day.counts)).toBeLessThanOrEqual(24 + 1440);
  expect(month.counts).toHaveLength(720);
  expect(sum(month.counts)).toBeGreaterThanOrEqual(719 + 43_200 - 61);
});

test('a schedule with more times than are counted is said to have more', async () => {
  await put('/v1/schedules/secondly', { spec: { cron: '* * * * * *' }, task: { type: 'x' } });

  const { body } = await api.get('/v1/schedule-calendar');

  expect(body.isComplete).toBe(false);
  await api.call({ method: 'DELETE', path: '/v1/schedules/secondly' });
});

test('the audit trail is filtered by what was done, and by whom', async () => {
  await api.call({ method: 'PATCH', path: '/v1/queues/told', body: { paused: true } });
  const actions = async (query: string) => {
    const { body } = await api.get(`/v1/audit?${query}`);
    return new Set((body.items as { action: string }[]).map(({ action }) => action));
  };

  expect([...(await actions('action=queue_paused'))]).toEqual(['queue_paused']);
  expect((await actions('actor=local')).size).toBeGreaterThan(1);
  expect((await actions('actor=k_nobody')).size).toBe(0);
});

test('a server without keys knows its caller, and keeps no cookie', async () => {
  const { body } = await api.get('/v1/login');
  const logIn = await api.post('/v1/login', { key: 'anything' });

  expect(body).toEqual({ actor: 'local', namespace: 'default', roles: ['admin'], expiresAt: null });
  expect(logIn.headers.get('set-cookie')).toBeNull();
});

test('the SDK has them: changes, figures, definitions of runs and the calendar', async () => {
  const sluice = new Sluice({ url: server.url });
  try {
    const changes = sluice.changes();
    const stats = sluice.stats.follow({ window: '10m' });
    await Promise.all([changes.opened, stats.opened]);
    const definition = { tasks: [{ taskReferenceName: 'asked', type: 'HUMAN' }] };
    const { body: run } = await api.post('/v1/runs', { workflow: 'asked', definition });
    await put('/v1/schedules/by-sdk', { spec: { cron: '0 * * * *' }, task: { type: 'x' } });

    const [changed] = await first(changes);
    const [all, more] = await first(stats, 2);

    expect(changed).toEqual({ kind: 'changed' });
    expect((await sluice.stats.get('24h')).stepMs).toBe(60_000);
    expect(all.at(-1)).toMatchObject({ in: expect.any(Number), depth: expect.any(Array) });
    expect(more.length).toBeGreaterThan(0);
    expect(await sluice.runs.definition(run.id)).toMatchObject({
      workflow: 'asked',
      version: null,
      definition,
    });
    const { counts, stepMs } = await sluice.schedules.calendar();
    expect(counts).toHaveLength((24 * 3_600_000) / stepMs);
    expect((await sluice.schedules.calendar('30d')).counts).toHaveLength(30 * 24);
  } finally {
    await sluice.close();
  }
});

/** The first items of a stream, which is closed then. */
async function first<T>(items: AsyncIterable<T>, count = 1): Promise<T[]> {
  const seen: T[] = [];
  for await (const item of items) {
    seen.push(item);
    if (seen.length === count) break;
  }
  return seen;
}
