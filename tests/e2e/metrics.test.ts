import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type MetricFamily, parseMetrics } from '../support/metrics-text.ts';
import { ServerProcess } from '../support/server-process.ts';
import { ApiClient } from './api-client.ts';
import { SessionUnderTest } from './session-under-test.ts';

let folder: string;
let server: ServerProcess;
let api: ApiClient;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  server = await ServerProcess.startServer(folder);
  api = new ApiClient(server.url, 'http1');
});

afterAll(async () => {
  api.close();
  await server.kill();
  await rm(folder, { recursive: true });
});

async function scrape(): Promise<ReadonlyMap<string, MetricFamily>> {
  const answer = await fetch(`${server.url}/metrics`);
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  return parseMetrics(await answer.text());
}

/** The value of a sample, which must exist exactly once. */
function sampleValue(
  families: ReadonlyMap<string, MetricFamily>,
  name: string,
  ...labels: string[]
) {
  const family = families.get(name.replace(/_(?:sum|count)$/, '')) ?? families.get(name);
  const samples = (family?.samples ?? []).filter((sample) => {
    return (
      sample.name === name && labels.every((text) => [...sample.labels.values()].includes(text))
    );
  });
  expect(samples, `${name} ${labels}`).toHaveLength(1);
  return samples[0].value;
}

test('what happens to tasks is counted', async () => {
  const before = await scrape();
  const session = new SessionUnderTest(server.url, 'h2c', { types: [{ type: 'measured' }] });
  const { sessionId } = await session.welcomed();
  const once = { type: 'measured', retry: { maxAttempts: 1 } };
  await api.post('/v1/tasks', [once, { ...once, dedupeKey: 'k' }, { ...once, dedupeKey: 'k' }]);
  const leases = [(await session.takeTask()).lease, (await session.takeTask()).lease];
  await api.report(sessionId, [
    { lease: leases[0], kind: 'succeeded' },
    { lease: leases[1], kind: 'failed', error: { message: 'no' } },
  ]);
  await api.post('/v1/tasks', [{ type: 'nobody', priority: 7 }, { type: 'nobody' }]);
  await api.post('/v1/tasks', { tpye: 'nobody' });

  const after = await scrape();

  expect(sampleValue(before, 'sluice_tasks_submitted_total')).toBe(0);
  expect(sampleValue(after, 'sluice_tasks_submitted_total')).toBe(4);
  expect(sampleValue(after, 'sluice_tasks_deduplicated_total')).toBe(1);
  expect(sampleValue(after, 'sluice_tasks_leased_total')).toBe(2);
  expect(sampleValue(after, 'sluice_tasks_finished_total', 'succeeded')).toBe(1);
  expect(sampleValue(after, 'sluice_tasks_finished_total', 'failed')).toBe(1);
  expect(sampleValue(after, 'sluice_tasks_finished_total', 'cancelled')).toBe(0);
  expect(sampleValue(after, 'sluice_task_queue_seconds_count')).toBe(2);
  expect(sampleValue(after, 'sluice_task_lease_seconds_count')).toBe(2);
  expect(sampleValue(after, 'sluice_tasks_queued', '7')).toBe(1);
  expect(sampleValue(after, 'sluice_tasks_queued', '4')).toBe(1);
  expect(sampleValue(after, 'sluice_tasks_queued', '0')).toBe(0);
  expect(sampleValue(after, 'sluice_tasks')).toBe(4);
  expect(sampleValue(after, 'sluice_tasks_finished')).toBe(1);
  expect(sampleValue(after, 'sluice_dead_letters')).toBe(1);
  expect(sampleValue(after, 'sluice_dedupe_keys')).toBe(1);
  expect(sampleValue(after, 'sluice_worker_sessions', 'connected')).toBe(1);
  expect(sampleValue(after, 'sluice_disk_free_bytes')).toBeGreaterThan(0);
  expect(sampleValue(after, 'sluice_http_refused_total', 'invalid_request')).toBe(1);
  expect(sampleValue(after, 'sluice_http_request_seconds_count', 'POST', '/v1/tasks')).toBe(3);
  expect(sampleValue(after, 'sluice_commit_seconds_count')).toBeGreaterThanOrEqual(3);
  expect(sampleValue(after, 'sluice_log_bytes_total')).toBeGreaterThan(100);
  expect(sampleValue(after, 'sluice_log_full')).toBe(0);
  expect(sampleValue(after, 'sluice_http_connections')).toBeGreaterThanOrEqual(2);
  expect(sampleValue(after, 'sluice_memory_bytes', 'rss')).toBeGreaterThan(1e6);
  session.disconnect();
});

test('each task type has its own metrics', async () => {
  const session = new SessionUnderTest(server.url, 'h2c', { types: [{ type: 'mail' }] });
  const { sessionId } = await session.welcomed();
  const once = { type: 'mail', retry: { maxAttempts: 1 } };
  await api.post('/v1/tasks', [once, once, once]);
  const first = await session.takeTask();
  const second = await session.takeTask();
  await api.report(sessionId, [
    { lease: first.lease, kind: 'succeeded' },
    { lease: second.lease, kind: 'failed', error: { message: 'no' } },
  ]);
  await session.takeTask();

  const running = await scrape();
  await api.delete(`/v1/worker-sessions/${sessionId}`);
  const after = await scrape();

  const ofMail = (name: string, ...labels: string[]) => {
    return sampleValue(after, name, 'default', 'mail', ...labels);
  };
  expect(sampleValue(running, 'sluice_type_running', 'default', 'mail')).toBe(1);
  expect(sampleValue(running, 'sluice_type_queued', 'default', 'mail')).toBe(0);
  expect(sampleValue(running, 'sluice_type_oldest_seconds', 'default', 'mail')).toBe(0);
  expect(ofMail('sluice_type_queued')).toBe(1);
  expect(ofMail('sluice_type_oldest_seconds')).toBeGreaterThanOrEqual(0);
  expect(ofMail('sluice_type_running')).toBe(0);
  expect(ofMail('sluice_type_dead_letters')).toBe(1);
  expect(ofMail('sluice_type_attempts_total', 'succeeded')).toBe(1);
  expect(ofMail('sluice_type_attempts_total', 'failed')).toBe(1);
  expect(ofMail('sluice_type_attempts_total', 'returned')).toBe(1);
  expect(ofMail('sluice_type_wait_seconds_count')).toBe(3);
  expect(ofMail('sluice_type_duration_seconds_count')).toBe(2);
  expect(sampleValue(after, 'sluice_leases_lost_total')).toBe(0);
  expect(sampleValue(after, 'sluice_type_queued', 'nobody')).toBe(2);
});

test('after a restart counts begin anew, and what is there is there', async () => {
  await server.kill();
  server = await ServerProcess.startServer(folder);
  api = new ApiClient(server.url, 'http1');

  const families = await scrape();

  expect(sampleValue(families, 'sluice_tasks_submitted_total')).toBe(0);
  expect(sampleValue(families, 'sluice_tasks')).toBe(7);
  expect(sampleValue(families, 'sluice_type_queued', 'nobody')).toBe(2);
});

test('schedules are counted by state, and their fires by cause', async () => {
  const before = sampleValue(await scrape(), 'sluice_tasks_submitted_total');
  const far = { spec: { at: '2999-01-01T00:00:00Z' }, task: { type: 'nobody' } };
  await api.put('/v1/schedules/far', far);
  await api.put('/v1/schedules/still', { ...far, paused: true });
  const { taskId } = (await api.post('/v1/schedules/far/trigger', {})).body;
  await api.post(`/v1/tasks/${taskId}/cancel`, {});

  const families = await scrape();

  expect(sampleValue(families, 'sluice_schedules', 'active')).toBe(1);
  expect(sampleValue(families, 'sluice_schedules', 'paused')).toBe(1);
  expect(sampleValue(families, 'sluice_schedule_fires_total', 'trigger')).toBe(1);
  expect(sampleValue(families, 'sluice_schedule_skips_total', 'overlap')).toBe(0);
  expect(sampleValue(families, 'sluice_schedule_late_seconds_count')).toBe(0);
  expect(sampleValue(families, 'sluice_tasks_submitted_total')).toBe(before + 1);
});

test('docs/metrics.md lists every metric that is served, as it is', async () => {
  const page = await readFile(join(import.meta.dirname, '../../docs/metrics.md'), 'utf8');

  const rows = Array.from(await scrape(), ([name, { type, help, samples }]) => {
    const labels = new Set(samples.flatMap((sample) => [...sample.labels.keys()]));
    labels.delete('le');
    return `| \`${name}\` | ${type} | ${[...labels].join(', ')} | ${help} |`;
  });

  expect(page.split('\n').filter((line) => line.startsWith('| `sluice_'))).toEqual(rows);
});
