import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FaultyLog } from '@sluice/log/testing/faulty-log';
import { Server } from '@sluice/server';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { waitUntil } from '../support/wait-until.ts';
import { type Answer, ApiClient } from './api-client.ts';
import { SessionUnderTest } from './session-under-test.ts';

/** Small limits, so that a few requests have the effect of many. */
const ADMISSION = {
  read: { bytesMax: 2000, answersMax: 1000 },
  submit: { bytesMax: 4000, answersMax: 1000 },
  lease: { bytesMax: 6000, answersMax: 1000 },
  operate: { bytesMax: 8000, answersMax: 1000 },
  report: { bytesMax: 10_000, answersMax: 1000 },
};
/** As many tasks are held as final reports can be sent. */
const HELD = 12;
const KIB = 'x'.repeat(1024);

let folder: string;
let log: FaultyLog;
let server: Server;
let api: ApiClient;
let session: SessionUnderTest;
let sessionId: string;
let leases: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-admission-'));
  server = await Server.start({
    host: '127.0.0.1',
    port: 0,
    dataFolder: folder,
    version: 'test',
    admission: ADMISSION,
    onFatal: (cause) => {
      throw cause;
    },
    wrapLog: (inner) => {
      log = new FaultyLog(inner);
      return log;
    },
  });
  api = new ApiClient(server.url, 'http1');
  session = new SessionUnderTest(server.url, 'http1', { capacity: { slots: HELD } });
  sessionId = (await session.welcomed()).sessionId;
  await api.post('/v1/tasks', Array(HELD).fill({ type: 'hello' }));
  leases = [];
  while (leases.length < HELD) leases.push((await session.takeTask()).lease);
});

afterEach(async () => {
  session.disconnect();
  api.close();
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

const submit = (): Promise<Answer> => api.post('/v1/tasks', { type: 'other', input: KIB });
const read = (): Promise<Answer> => api.get('/v1/tasks/t_unknown');
const detach = (): Promise<Answer> => api.delete('/v1/worker-sessions/s_unknown');
const report = (): Promise<Answer> =>
  api.report(sessionId, [{ lease: leases.pop(), kind: 'succeeded', output: KIB }]);

/** The status of each answer; `pending` while the request waits for the disk. */
function statusesOf(answers: readonly Promise<Answer>[]): (number | 'pending')[] {
  const statuses: (number | 'pending')[] = answers.map(() => 'pending');
  answers.forEach((answer, index) => {
    void answer.then(({ status }) => {
      statuses[index] = status;
    });
  });
  return statuses;
}

/** Sends one request after the other until one is refused; returns all answers. */
async function sendUntilRefused(send: () => Promise<Answer>): Promise<Promise<Answer>[]> {
  const sent: Promise<Answer>[] = [];
  let isRefused = false;
  const sendOne = (): boolean => {
    if (isRefused) return true;
    const answer = send();
    sent.push(answer);
    void answer.then(({ status }) => {
      if (status === 429) isRefused = true;
    });
    return false;
  };
  await waitUntil(sendOne, { what: 'a request is refused', timeoutMs: 20_000 });
  return sent;
}

test('a disk that hangs has reads and tasks refused first, reports last', async () => {
  log.hold();
  void submit();
  await log.whenHeld();

  const submits = await sendUntilRefused(submit);
  // Accepted while tasks and reads are refused. It has arrived before the last of these answers.
  const early = detach();
  for (let i = 0; i < 20; i++) expect((await read()).status).toBe(429);
  const firstReports = statusesOf([report(), report(), report(), report()]);
  const detaches = await sendUntilRefused(detach);
  expect(firstReports).toEqual(firstReports.map(() => 'pending'));
  const reports = await sendUntilRefused(report);
  const refusal = (await Promise.all([submit(), read(), detach()])).map(({ status }) => status);
  expect(refusal).toEqual([429, 429, 429]);

  log.letGo();
  const settled = async (answers: readonly Promise<Answer>[]): Promise<Set<number>> =>
    new Set((await Promise.all(answers)).map(({ status }) => status));
  expect(await settled(submits)).toEqual(new Set([201, 429]));
  expect((await early).status).toBe(404);
  expect(await settled(detaches)).toContain(429);
  expect(await settled(reports)).toEqual(new Set([200, 429]));
  expect(firstReports).toEqual(firstReports.map(() => 200));
  const afterwards = await Promise.all([submit(), read(), detach()]);
  expect(afterwards.map(({ status }) => status)).toEqual([201, 404, 404]);
});
