import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { dumpLog, EMBEDDED_PARTITION } from '@sluice/server';
import { afterEach, expect, test } from 'vitest';
import { connectHttp, type HttpClient } from '../support/http-client.ts';
import { parseMetrics } from '../support/metrics-text.ts';
import { openWorkerStream, type PushedTask, sendReports } from '../support/worker-client.ts';
import type { Counted } from './counted-server.ts';

/** With these flags no garbage is collected while so little is allocated. */
const NODE_FLAGS = [
  '--disable-proto=delete',
  '--min-semi-space-size=512',
  '--max-semi-space-size=512',
];

/** Writes to sockets: the answers, and one push. */
const WRITES = 4;

const INPUT = { text: 'x'.repeat(180) };

/** What a round of tasks costs the server, from the submit to the answer to the reports. */
interface Costs {
  readonly allocatedBytesPerTask: number;
  readonly logBytesPerTask: number;
  readonly eventsPerTask: number;
  readonly recordsPerRound: number;
  readonly commitsPerRound: number;
  readonly writesPerRound: number;
  readonly pushesPerRound: number;
}

let folder: string;
let child: ChildProcess | undefined;
let http: HttpClient | undefined;

afterEach(async () => {
  http?.close();
  child?.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

async function startServer(): Promise<string> {
  folder = await mkdtemp(join(tmpdir(), 'sluice-counters-'));
  const program = join(import.meta.dirname, 'counted-server.ts');
  const args = ['dev', '--no-agent', '--port', '0', '--data', folder];
  const stdio = ['ignore', 'pipe', 'inherit', 'ipc'] as const;
  child = fork(program, args, { execArgv: NODE_FLAGS, stdio: [...stdio] });
  if (child.stdout === null) throw new Error('the server has no output');
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /ready at (\S+)/.exec(line)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error('the server ended before it was ready');
}

async function counted(): Promise<Counted> {
  const answer = once(child as ChildProcess, 'message');
  child?.send('count');
  return (await answer)[0] as Counted;
}

async function metric(name: string): Promise<number> {
  const text = (await http?.send({ method: 'GET', path: '/metrics' }))?.text ?? '';
  for (const family of parseMetrics(text).values()) {
    const sample = family.samples.find((each) => each.name === name);
    if (sample !== undefined) return sample.value;
  }
  throw new Error(`there is no metric ${name}`);
}

/** Number of events in the log so far. */
async function countEvents(): Promise<number> {
  let events = 0;
  const print = (): void => {
    events += 1;
  };
  await dumpLog(folder, { partition: EMBEDDED_PARTITION, from: 0, withPayloads: false, print });
  return events;
}

interface Rounds {
  readonly tasks: number;
  readonly rounds: number;
  /** Sends each task and each report in a separate request. */
  readonly isSplit?: boolean;
}

/** Runs rounds of tasks one after the other. The first ones are warm-up and do not count. */
async function costsOf({ tasks, rounds, isSplit = false }: Rounds): Promise<Costs> {
  const client = connectHttp('http1', await startServer());
  http = client;
  let pushes = 0;
  let waiting: PushedTask[] = [];
  let arrived: () => void = () => undefined;
  const session = await new Promise<string>((resolve) => {
    openWorkerStream(
      client,
      { name: 'counter', types: [{ type: 'count' }], capacity: { slots: 1000 } },
      {
        onWelcome: ({ sessionId }) => resolve(sessionId),
        onTasks: (pushed) => {
          pushes += 1;
          waiting.push(...pushed);
          if (waiting.length === tasks) arrived();
        },
      },
    );
  });
  const body = Array.from({ length: tasks }, () => ({ type: 'count', input: INPUT }));
  const round = async (): Promise<void> => {
    const all = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    for (const part of isSplit ? body : [body]) {
      await client.send({ method: 'POST', path: '/v1/tasks', body: part });
    }
    await all;
    const reports = waiting.map(({ lease }) => ({
      lease,
      kind: 'succeeded' as const,
      output: null,
    }));
    waiting = [];
    for (const part of isSplit ? reports.map((each) => [each]) : [reports]) {
      await sendReports(client, session, { reports: part });
    }
  };

  for (let n = 0; n < rounds; n++) await round();
  const names = [
    'sluice_log_bytes_total',
    'sluice_commit_records_sum',
    'sluice_commit_seconds_count',
  ];
  const metricsBefore = await Promise.all(names.map(metric));
  const eventsBefore = await countEvents();
  const before = await counted();
  const pushesBefore = pushes;
  for (let n = 0; n < rounds; n++) await round();
  const after = await counted();
  const events = (await countEvents()) - eventsBefore;
  const metricsAfter = await Promise.all(names.map(metric));
  expect(after.collections).toBe(before.collections);
  const [logBytes, records, commits] = metricsAfter.map((each, n) => each - metricsBefore[n]);
  const costs = {
    allocatedBytesPerTask: (after.heapBytes - before.heapBytes) / (rounds * tasks),
    logBytesPerTask: logBytes / (rounds * tasks),
    eventsPerTask: events / (rounds * tasks),
    recordsPerRound: records / rounds,
    commitsPerRound: commits / rounds,
    writesPerRound: (after.writes - before.writes) / rounds,
    pushesPerRound: (pushes - pushesBefore) / rounds,
  };
  console.log(JSON.stringify(costs));
  return costs;
}

/**
 * The bounds are on counts, not times, so a slow machine changes nothing. Each bound is about a
 * quarter above the count at the time when it was set. A crossed bound says that a task costs more,
 * and where to look.
 */
const BOUNDS = {
  allocatedBytesPerTask: 5200,
  logBytesPerTask: 240,
  // Submitted, leased, succeeded; and sometimes a hash of the state.
  eventsPerTask: 3.1,
  recordsPerRound: 2.5,
  commitsPerRound: 2.5,
  pushesPerRound: 1.25,
  writesPerRound: WRITES,
} as const satisfies Costs;

/** Of a task that comes alone. The web framework around its requests took another 7,000. */
const LONE_BYTES = 72_000;

/** The push, the answer to the submit and the answer to the report. */
const LONE_WRITES = 3.5;

/** Names of the costs that are above their bounds. */
function crossed(costs: Costs): string[] {
  const names = Object.keys(BOUNDS) as (keyof Costs)[];
  return names.filter((name) => costs[name] >= BOUNDS[name]).sort();
}

test('what a task costs in batches of 100 stays within its bounds', async () => {
  const costs = await costsOf({ tasks: 100, rounds: 50 });

  expect(crossed(costs)).toEqual([]);
});

test('the same tasks one by one cross every bound that batches keep', async () => {
  const costs = await costsOf({ tasks: 100, rounds: 5, isSplit: true });

  // A task has the same events whether it is sent alone or in a batch.
  const { eventsPerTask: _, ...others } = BOUNDS;
  expect(crossed(costs)).toEqual(Object.keys(others).sort());
  expect(costs.allocatedBytesPerTask).toBeLessThan(LONE_BYTES);
  expect(costs.writesPerRound / 100).toBeLessThan(LONE_WRITES);
  expect(costs.commitsPerRound / 100).toBeLessThan(2.1);
});
