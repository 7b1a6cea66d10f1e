/**
 * Answers about many large tasks come in parts, so that no part fills the memory of either side.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTask, Sluice } from '@sluice/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectHttp, type HttpClient } from '../support/http-client.ts';
import { ServerProcess } from '../support/server-process.ts';

const TASKS = 45;
const TEXT = 'x'.repeat(240 * 1024);
/** The limit of an answer, and one task that exceeds it. */
const BYTES_MAX = (8 + 1) * 1024 * 1024;

interface Large {
  readonly items: readonly { readonly id: string; readonly input: string }[];
  readonly notIncluded?: readonly string[];
  readonly unknown?: readonly string[];
  readonly nextCursor?: string | null;
}

let folder: string;
let server: ServerProcess;
let http: HttpClient;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
});

afterAll(() => rm(folder, { recursive: true }));

async function call(path: string, body?: unknown): Promise<Large> {
  const method = body === undefined ? 'GET' : 'POST';
  const { status, text } = await http.send({ method, path, body });
  expect(status).toBeLessThan(300);
  expect(text.length).toBeLessThan(BYTES_MAX);
  return JSON.parse(text);
}

/** Submits large tasks, as many per request as fit. */
async function submitLarge(type: string): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < TASKS; n += 15) {
    const batch = Array.from({ length: 15 }, () => ({ type, input: TEXT }));
    ids.push(...(await call('/v1/tasks', batch)).items.map(({ id }) => id));
  }
  return ids;
}

/** All pages, one after the other. */
async function pages(path: string): Promise<string[][]> {
  const found: string[][] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await call(`${path}&limit=1000${cursor === '' ? '' : `&cursor=${cursor}`}`);
    found.push(page.items.map(({ id }) => id));
    expect(page.items.every(({ input }) => input === TEXT)).toBe(true);
    cursor = page.nextCursor ?? null;
  }
  return found;
}

/** Requests the rest until nothing is left. */
async function getAll(ids: readonly string[]): Promise<string[][]> {
  const found: string[][] = [];
  for (let rest = ids; rest.length > 0; ) {
    const { items, notIncluded = [], unknown } = await call('/v1/tasks/get', { ids: rest });
    expect(unknown).toEqual(found.length === 0 ? ['t_unknown'] : []);
    found.push(items.map(({ id }) => id));
    rest = notIncluded;
  }
  return found;
}

async function waitForAll(ids: readonly string[]): Promise<string[][]> {
  const found: string[][] = [];
  for (let rest = ids; rest.length > 0; ) {
    const { items } = await call('/v1/tasks/wait', { ids: rest });
    found.push(items.map(({ id }) => id));
    rest = rest.filter((id) => !found.flat().includes(id));
  }
  return found;
}

describe.each([
  ['in memory', []],
  ['in files', ['--limits-finished-tasks-max', '2']],
])('many large tasks %s', (place, flags) => {
  let ids: string[];

  beforeAll(async () => {
    server = await ServerProcess.startServer(join(folder, place), ...flags);
    http = connectHttp('http1', server.url);
    ids = await submitLarge('large');
    for (const id of ids) await call(`/v1/tasks/${id}/complete`, { output: 1 });
  });

  afterAll(async () => {
    http.close();
    await server.kill();
  });

  test('are listed page by page', async () => {
    const found = await pages('/v1/tasks?type=large');

    expect(found.length).toBeGreaterThan(1);
    expect(found.flat()).toEqual(ids.toReversed());
  });

  test('are read by their ids in parts, and the rest is named', async () => {
    const found = await getAll(['t_unknown', ...ids]);

    expect(found.length).toBeGreaterThan(1);
    expect(found.flat().sort()).toEqual(ids);
  });

  test('are waited for in parts', async () => {
    const found = await waitForAll(ids);

    expect(found.length).toBeGreaterThan(1);
    expect(found.flat().sort()).toEqual(ids);
  });
});

describe('many large tasks that end', () => {
  beforeAll(async () => {
    server = await ServerProcess.startServer(join(folder, 'ending'));
    http = connectHttp('http1', server.url);
  });

  afterAll(async () => {
    http.close();
    await server.kill();
  });

  test('are listed as dead letters page by page', async () => {
    const ids = await submitLarge('dead');
    for (const id of ids) await call(`/v1/tasks/${id}/fail`, { error: { message: 'no' } });

    const found = await pages('/v1/dead-letters?type=dead');

    expect(found.length).toBeGreaterThan(1);
    expect(found.flat()).toEqual(ids);
  });

  test('all give their results to a client that waits for them', async () => {
    const echo = defineTask({ type: 'echo', run: async (text: string) => text });
    const sluice = new Sluice({ url: server.url });
    await sluice.work([echo], { handleSignals: false });

    const tasks = await sluice.submitMany(echo, Array(TASKS).fill(TEXT));
    const results = await Promise.all(tasks.map((task) => task.result()));
    await sluice.close();

    expect(results.every((text) => text === TEXT)).toBe(true);
  });
});
