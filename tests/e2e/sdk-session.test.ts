import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type SubmitOutcome, Submitter } from '@sluice/sdk/logic';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ApiClient } from './api-client.ts';
import { SdkShell } from './sdk-shell.ts';

const TASKS = 1200;
const CUT_EVERY = 100;
const KILLS_AT = [400, 800];
const LEASE_MS = 60_000;

let folder: string;
let server: ServerProcess;
let shell: SdkShell;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  server = await ServerProcess.startDev(folder);
});

afterAll(async () => {
  shell.session.abandon();
  await server.kill();
  await rm(folder, { recursive: true });
});

/** Waits until this many handlers have ended. */
async function finished(count: number): Promise<void> {
  const what = `${count} handlers ended`;
  await waitUntil(() => shell.finished >= count, { what, timeoutMs: 60_000 });
}

test('over cut connections and a killed server every task runs and succeeds once', async () => {
  const offer = { types: [{ type: 'echo' }], capacity: { slots: 20 }, leaseMs: LEASE_MS };
  // With this, repeated cuts do not make the reconnect pauses grow.
  shell = new SdkShell(server.url, { name: 'w', ...offer, times: { stableMs: 0 } });
  shell.session.start();
  const outcomes: SubmitOutcome[] = [];
  const submitter = new Submitter({ addresses: 1 }, shell);
  for (let n = 0; n < TASKS; n++) {
    submitter.submit([{ type: 'echo', input: { n, text: 'Ädä €' } }], (outcome) =>
      outcomes.push(outcome),
    );
  }

  for (let count = CUT_EVERY; count < TASKS; count += CUT_EVERY) {
    await finished(count);
    if (KILLS_AT.includes(count)) {
      await server.kill();
      server = await ServerProcess.startDev(folder);
      shell.url = server.url;
    } else {
      shell.cut();
    }
  }
  await waitUntil(() => outcomes.length === TASKS && allTold(), {
    what: 'every report is answered',
    timeoutMs: 60_000,
  });

  const ids = outcomes.flatMap((outcome) =>
    outcome.type === 'submitted' ? outcome.tasks.map(({ id }) => id) : [],
  );
  expect(new Set(ids).size).toBe(TASKS);
  expect(shell.runs.size).toBe(TASKS);
  expect([...shell.runs.values()].filter((times) => times !== 1)).toEqual([]);
  expect(shell.aborts).toEqual([]);
  expect(shell.strangeEvents).toEqual([]);
  expect(shell.notices.filter(({ type }) => type === 'welcomed').length).toBeGreaterThan(8);
  await checkTasks(ids);
});

test('a stopped worker leaves, and its session is over', async () => {
  const welcomed = shell.notices.findLast((notice) => notice.type === 'welcomed');
  const api = new ApiClient(server.url, 'http1');

  shell.session.stop(10_000);
  await waitUntil(() => shell.isOver, { what: 'the session is over', timeoutMs: 20_000 });

  const again = await api.delete(`/v1/worker-sessions/${welcomed?.sessionId}`);
  expect(again.body.error.code).toBe('session_not_found');
  api.close();
});

function allTold(): boolean {
  const told = shell.notices.filter(({ type }) => type === 'report_answered');
  return told.length === TASKS;
}

async function checkTasks(ids: readonly string[]): Promise<void> {
  const api = new ApiClient(server.url, 'http1');
  for (const id of ids) {
    const { body } = await api.get(`/v1/tasks/${id}`);
    expect(body).toMatchObject({ state: 'succeeded', attempt: 1, output: { echo: body.input } });
  }
  api.close();
}
