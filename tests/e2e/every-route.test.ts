import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BYTES, ERROR_CODES, ROUTES, type Route } from '@sluice/protocol';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ServerProcess } from '../support/server-process.ts';

const TASK = 't_00000000000000000000';
const BODY_BYTES_MAX = 4 * 1024 * 1024;

let folder: string;
let server: ServerProcess;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  server = await ServerProcess.startDev(folder);
});

afterAll(async () => {
  await server.kill();
  await rm(folder, { recursive: true });
});

const LIST = Object.entries<Route>(ROUTES).map(([name, route]) => ({ name, route }));
const WITH_BODY = LIST.filter(({ route }) => route.body !== undefined && route.body !== BYTES);

/** The path of a route, with values for its parameters. */
function pathOf({ path }: Route): string {
  return path
    .replace('{type}', 'some-type')
    .replace('{version}', '1')
    .replace('{sessionId}', `s_${'a'.repeat(24)}`)
    .replaceAll(/\{\w+\}/g, TASK);
}

interface Refused {
  readonly status: number;
  readonly code: string;
  readonly requestId: string;
}

async function refused(route: Route, init: RequestInit = {}): Promise<Refused> {
  const response = await fetch(server.url + pathOf(route), { method: route.method, ...init });
  const text = await response.text();
  const { error } = JSON.parse(text);
  return { status: response.status, code: error.code, requestId: error.requestId };
}

function refusedWith(code: keyof typeof ERROR_CODES) {
  return { status: ERROR_CODES[code].status, code, requestId: expect.stringMatching(/^q_/) };
}

test('the address of the server itself says what it is and where to look', async () => {
  const response = await fetch(server.url);
  const index = (await response.json()) as Record<string, string>;

  expect(response.status).toBe(200);
  expect(index).toMatchObject({ name: 'sluice', version: expect.stringMatching(/^\d/) });
  for (const path of [index.openapi, index.ready, index.metrics]) {
    expect((await fetch(server.url + path)).status).toBe(200);
  }
});

describe.each(LIST)('$name', ({ route }) => {
  test('no web page of others may call it', async () => {
    const headers = { origin: 'https://example.com' };
    expect(await refused(route, { headers })).toEqual(refusedWith('forbidden_origin'));
    const crossSite = { 'sec-fetch-site': 'cross-site' };
    expect(await refused(route, { headers: crossSite })).toEqual(refusedWith('forbidden_origin'));
  });

  test('a query name that nobody knows is refused by its name', async () => {
    const response = await fetch(`${server.url}${pathOf(route)}?colour=red`, {
      method: route.method,
      ...(route.body === undefined ? {} : { body: '{}' }),
    });
    expect(response.status).toBe(400);
    expect((await response.json()) as object).toMatchObject({
      error: { code: 'invalid_request', details: [{ path: '/colour' }] },
    });
  });

  test('another method is refused, with those that are taken', async () => {
    const response = await fetch(server.url + pathOf(route), { method: 'OPTIONS' });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')?.split(', ')).toContain(route.method);
    expect((await response.json()) as object).toMatchObject({
      error: { code: 'method_not_allowed' },
    });
  });
});

describe.each(WITH_BODY)('the body of $name', ({ route }) => {
  test.each(['{', 'nothing', '\u0000'])('has to be JSON, and %j is not', async (body) => {
    expect(await refused(route, { body })).toEqual(refusedWith('invalid_request'));
  });

  test('has to be UTF-8', async () => {
    const body = new Uint8Array([0x22, 0xff, 0xfe, 0x22]);
    expect(await refused(route, { body })).toEqual(refusedWith('invalid_request'));
  });

  test('has no field that nobody knows', async () => {
    const body = JSON.stringify({ colour: 'red' });
    // Definitions keep fields that nobody knows, and this one has no steps.
    const isDefinition = route.path.startsWith('/v1/workflows/');
    const code = isDefinition ? 'invalid_definition' : 'invalid_request';
    expect(await refused(route, { body })).toEqual(refusedWith(code));
  });

  test('has a bound', async () => {
    const body = `"${'x'.repeat(BODY_BYTES_MAX)}"`;
    expect(await refused(route, { body })).toEqual(refusedWith('payload_too_large'));
  });

  test('comes as it is', async () => {
    const headers = { 'content-encoding': 'gzip' };
    expect(await refused(route, { body: '{}', headers })).toEqual(
      refusedWith('unsupported_encoding'),
    );
  });
});

test('every other error that a route announces has been seen', async () => {
  // Each of these has a separate test. This list must grow with the routes.
  const elsewhere = new Set([
    'backfill_running',
    'backup_not_here',
    'blob_hash_mismatch',
    'blob_not_found',
    'dedupe_mismatch',
    'disk_full',
    'invalid_definition',
    'key_not_found',
    'last_admin_key',
    'overloaded',
    'quota_exceeded',
    'redrive_not_found',
    'resume_outdated',
    'run_finished',
    'run_not_finished',
    'run_not_found',
    'run_not_kept',
    'schedule_is_permanent',
    'schedule_not_found',
    'session_not_found',
    'step_not_found',
    'step_not_waiting',
    'task_finished',
    'task_not_finished',
    'task_not_found',
    'task_not_leased',
    'task_of_run',
    'task_running',
    'task_type_not_found',
    'too_many_failures',
    'too_many_workflows',
    'unauthenticated',
    'unavailable',
    'version_in_use',
    'worker_not_found',
    'worker_unreachable',
    'workflow_not_found',
  ]);
  const here = ['invalid_request', 'payload_too_large', 'unsupported_encoding'];
  const announced = new Set(LIST.flatMap(({ route }) => route.errors));
  expect([...announced].filter((code) => !here.includes(code)).sort()).toEqual([...elsewhere]);
});
