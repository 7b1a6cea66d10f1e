/** The SDK for operators: what only a server has, and events through restarts. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OPERATOR_SCHEMAS } from '@sluice/protocol/sdk-schemas';
import { defineTask, PermanentFailure, Sluice, SluiceError } from '@sluice/sdk';
import { Value } from 'typebox/value';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drainVersion, rotate, showLines } from '../../examples/guide/operators.ts';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';

const HOUR_MS = 3_600_000;

const fragile = defineTask({
  type: 'fragile',
  retry: { maxAttempts: 1 },
  run: ({ n }: { n: number }) => {
    throw new PermanentFailure(`no ${n}`);
  },
});

const late = defineTask<{ n: number }, number>({ type: 'late', run: ({ n }) => n });

let folder: string;
let server: ServerProcess;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-operators-'));
  server = await ServerProcess.startDev(folder);
});

afterAll(async () => {
  await server.kill();
  await rm(folder, { recursive: true });
});

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

async function codeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'ok',
    (cause: unknown) => (cause instanceof SluiceError ? cause.code : String(cause)),
  );
}

describe('only a server has', () => {
  test('histories, groups of errors, and workers', async () => {
    const sluice = new Sluice({ url: server.url });
    const worker = await sluice.work([fragile], {
      handleSignals: false,
      name: 'operated',
      version: 'old',
    });
    const task = await sluice.submit(fragile, { n: 0 });
    await task.wait();

    const history = await sluice.tasks.history(task);
    const { items: groups } = await sluice.deadLetters.groups('fragile');
    const [found] = (await all(sluice.workers.list())).filter(({ name }) => name === worker.name);
    const drained = await sluice.workers.drain(found.id);
    const byVersion = await drainVersion(sluice, 'old');

    const states = history.map(({ to }) => to).filter((state) => state !== 'running');
    expect(states).toEqual(['queued', 'leased', 'failed']);
    expect(groups[0]).toMatchObject({ type: 'fragile', message: 'no 0' });
    expect(found.types).toEqual([{ type: 'fragile', leased: 0 }]);
    expect(drained.draining).toBe(true);
    expect(byVersion).toEqual(['operated']);
    expect((await sluice.workers.page({ limit: 1 })).items).toHaveLength(1);
    expect(await codeOf(sluice.workers.drain('w_0'))).toBe('worker_not_found');
    await sluice.close();
  });

  test('lines that are followed until the task ends', async () => {
    const sluice = new Sluice({ url: server.url });
    const go = Promise.withResolvers<void>();
    const talking = defineTask({
      type: 'talking',
      async run(_: null, { log }) {
        await log('one');
        await go.promise;
        await log('two');
      },
    });
    await sluice.work([talking], { handleSignals: false });
    const task = await sluice.submit(talking, null);

    const lines: string[] = [];
    for await (const { attempt, line } of sluice.tasks.followLogs(task)) {
      lines.push(`${attempt} ${line}`);
      go.resolve();
    }

    const shown: string[] = [];
    await showLines(sluice, task.id, (line) => shown.push(line));
    expect(lines).toEqual(['1 one', '1 two']);
    expect(shown).toEqual(['attempt 1: one', 'attempt 1: two']);
    expect(await codeOf(all(sluice.tasks.followLogs('t_0')))).toBe('task_not_found');
    await sluice.close();
  });

  test('keys, which are created, listed and revoked', async () => {
    const data = await mkdtemp(join(tmpdir(), 'sluice-keys-'));
    const keyed = await ServerProcess.startDev(data);
    const open = new Sluice({ url: keyed.url });
    const { key, id, roles } = await open.keys.create({ role: 'admin', name: 'boss' });
    const admin = new Sluice({ url: keyed.url, apiKey: key });
    const viewer = await admin.keys.create({ role: 'viewer', name: 'screen' });
    const guest = new Sluice({ url: keyed.url, apiKey: viewer.key });
    const listed = (await all(admin.keys.list())).map(({ name }) => name);
    const before = await codeOf(guest.tasks.page());
    const forbidden = await codeOf(guest.keys.page());

    const successor = new Sluice({ url: keyed.url, apiKey: await rotate(admin, viewer.id) });
    const after = await codeOf(successor.tasks.page());
    await successor.close();
    await admin.keys.revoke(viewer.id);

    expect([roles, listed]).toEqual([['admin'], ['boss', 'screen']]);
    expect([before, after, forbidden]).toEqual(['ok', 'ok', 'forbidden']);
    expect(await codeOf(guest.tasks.page())).toBe('unauthenticated');
    expect(await codeOf(open.tasks.page())).toBe('unauthenticated');
    expect(await codeOf(admin.keys.revoke(id))).toBe('last_admin_key');
    expect(await codeOf(admin.keys.create({}))).toBe('invalid_request');
    await Promise.all([open, admin, guest].map((client) => client.close()));
    await keyed.kill();
    await rm(data, { recursive: true });
  });
});

test('events go on where they were when the server dies and comes back', async () => {
  const data = await mkdtemp(join(tmpdir(), 'sluice-followed-'));
  let dying = await ServerProcess.startDev(data);
  const { port } = new URL(dying.url);
  const sluice = new Sluice({ url: dying.url });
  const seen: string[] = [];
  const events = sluice.events({ type: 'late' });
  await events.opened;
  const reading = (async () => {
    for await (const event of events) seen.push(event.kind === 'gap' ? 'gap' : event.task);
  })();

  const ids: string[] = [];
  for (let n = 0; n < 3; n++) {
    const { id } = await sluice.submit(late, { n }, { delayMs: HOUR_MS });
    ids.push(id);
    await waitUntil(() => seen.includes(id), { what: `task ${n} is seen`, timeoutMs: 60_000 });
    if (n === 2) break;
    await dying.kill();
    dying = await ServerProcess.startDev(data, undefined, port);
  }
  events.close();
  await reading;

  // A change may come again, and none is missing.
  expect([...new Set(seen)]).toEqual(ids);
  await sluice.close();
  await dying.kill();
  await rm(data, { recursive: true });
});

test('events have the form that the protocol says, and every answer too', async () => {
  const sluice = new Sluice({ url: server.url });
  const events = sluice.events({ after: '0' });
  await sluice.submit(late, { n: 1 }, { delayMs: HOUR_MS });

  const [gap, change] = [await next(events), await next(events)];
  const [queue] = (await sluice.queues.page()).items;

  const { lastEventId: _, kind: first, ...gapData } = gap;
  const { lastEventId: __, kind: second, ...changeData } = change;
  expect([first, second]).toEqual(['gap', 'change']);
  expect(Value.Errors(OPERATOR_SCHEMAS.EventGap, gapData)).toEqual([]);
  expect(Value.Errors(OPERATOR_SCHEMAS.TaskChange, changeData)).toEqual([]);
  expect(Value.Errors(OPERATOR_SCHEMAS.QueueView, queue)).toEqual([]);
  events.close();
  await sluice.close();
});

async function next<T>(events: AsyncIterable<T>): Promise<T> {
  const { value } = await events[Symbol.asyncIterator]().next();
  return value as T;
}
