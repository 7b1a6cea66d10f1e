import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FaultyLog } from '@sluice/log/testing/faulty-log';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ExitCode } from '../../packages/cli/src/base/exit-code.ts';
import { serve } from '../../packages/cli/src/serve.ts';
import { type MetricFamily, parseMetrics } from '../support/metrics-text.ts';

let folder: string;
let log: FaultyLog;
let url: string;
let stop: AbortController;
let ended: Promise<ExitCode>;
let said: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  stop = new AbortController();
  said = [];
  url = await new Promise<string>((resolve) => {
    const io = { stdout: resolve, stderr: (line: string) => said.push(line), stop: stop.signal };
    const options = {
      host: '127.0.0.1',
      port: 0,
      dataFolder: folder,
      drainMs: 100,
      wrapLog: (inner: ConstructorParameters<typeof FaultyLog>[0]) => {
        log = new FaultyLog(inner);
        return log;
      },
    };
    ended = serve(options, io, { greeting: (address) => address });
  });
});

afterEach(async () => {
  stop.abort();
  await ended;
  await rm(folder, { recursive: true, force: true });
});

async function scrape(): Promise<ReadonlyMap<string, MetricFamily>> {
  return parseMetrics(await (await fetch(`${url}/metrics`)).text());
}

/** Sends a submit that gets no answer while the disk hangs. */
async function hang(): Promise<void> {
  log.hold();
  // The request fails if the server ends before the disk works again.
  fetch(`${url}/v1/tasks`, { method: 'POST', body: '{"type":"a"}' }).catch(() => undefined);
  await log.whenHeld();
}

test('metrics of tasks wait until they are durable, those of the server do not', async () => {
  const before = await scrape();
  await hang();

  const during = await scrape();
  log.letGo();
  const after = await scrape();

  const outstanding = during.get('sluice_commit_outstanding_seconds')?.samples[0].value;
  expect(before.get('sluice_tasks_submitted_total')?.samples[0].value).toBe(0);
  expect(during.has('sluice_tasks_submitted_total')).toBe(false);
  expect(outstanding).toBeGreaterThan(0);
  expect(after.get('sluice_tasks_submitted_total')?.samples[0].value).toBe(1);
});

test('a server whose disk hangs stops all the same, and says so', async () => {
  await hang();

  stop.abort();

  expect(await ended).toBe(ExitCode.refused);
  expect(said.at(-1)).toContain('the disk does not respond');
  log.letGo();
});
