/**
 * A client that follows the OpenAPI document is refused only for what the document forbids. Bodies
 * are drawn from the document that the server itself serves.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BYTES, ROUTES, type Route } from '@sluice/protocol';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ApiDocument, type BodyOperation, bodyOperations } from '../support/api-operations.ts';
import { BEYOND, type Beyond } from '../support/beyond-schemas.ts';
import { conformingValues } from '../support/conforming-values.ts';
import { conforms } from '../support/json-schema.ts';
import '../support/random-sequences.ts';
import { ServerProcess } from '../support/server-process.ts';

/** Bodies that are drawn for each operation. */
const BODIES = 40;

let folder: string;
let server: ServerProcess;
let operations: readonly BodyOperation[];
let session: { readonly id: string; end(): void };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-e2e-'));
  server = await ServerProcess.startDev(folder);
  const document = await fetch(`${server.url}/openapi.json`);
  operations = bodyOperations((await document.json()) as ApiDocument);
  session = await openSession();
});

afterAll(async () => {
  session.end();
  await server.kill();
  await rm(folder, { recursive: true });
});

const DRAWN = Object.entries<Route>(ROUTES)
  .filter(([, { body }]) => body !== undefined && body !== BYTES)
  .map(([name]) => name)
  // With a key, or after guesses of one, no other request would be answered.
  .filter((name) => name !== 'createKey' && name !== 'logIn');

test.each(DRAWN)('%s refuses no body that the document allows', async (name) => {
  const operation = operationOf(name);
  const known = BEYOND.filter((each) => each.operation === name);

  await fc.assert(
    fc.asyncProperty(conformingValues(operation.schema), async (body) => {
      const found = refusals(await send(operation, body));
      expect(found.filter((each) => !known.some((reason) => isFor(each, reason)))).toEqual([]);
    }),
    { numRuns: BODIES },
  );
});

test.each(BEYOND)('$operation refuses more than schemas can say: $why', async (reason) => {
  const { operation: name, example } = reason;
  const operation = operationOf(name);

  const found = refusals(await send(operation, example));

  expect(conforms(operation.schema, example)).toBe(true);
  expect(found).not.toEqual([]);
  expect(found.filter((each) => !isFor(each, reason))).toEqual([]);
});

test('a body that the document forbids is refused', async () => {
  const operation = operationOf('submitTasks');
  const body = { type: 'a', priority: 9 };

  expect(conforms(operation.schema, body)).toBe(false);
  expect(refusals(await send(operation, body))).toEqual([
    { code: 'invalid_request', path: '/priority', problem: 'must be <= 8' },
  ]);
});

function operationOf(name: string): BodyOperation {
  const operation = operations.find((each) => each.name === name);
  if (operation === undefined) throw new Error(`the document has no body of ${name}`);
  return operation;
}

interface Refusal {
  readonly code: string;
  readonly path: string;
  readonly problem: string;
}

/** Everything that a body was refused for. */
function refusals({ status, error }: Answer): Refusal[] {
  if (status !== 400 || error === undefined) return [];
  const { code, message, details = [{ path: '', problem: message }] } = error;
  return details.map((each) => ({ path: each.path, problem: each.problem, code }));
}

function isFor({ code, path, problem }: Refusal, reason: Beyond): boolean {
  return reason.code === code && reason.path.test(path) && reason.problem.test(problem);
}

interface Answer {
  readonly status: number;
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly details?: readonly { readonly path: string; readonly problem: string }[];
  };
}

async function send({ method, path }: BodyOperation, body: unknown): Promise<Answer> {
  const done = new AbortController();
  const response = await fetch(server.url + (await filled(path)), {
    method,
    body: JSON.stringify(body),
    signal: done.signal,
  });
  const { status } = response;
  if (status >= 400) return { status, ...((await response.json()) as object) };
  // The answer to a worker does not end.
  done.abort();
  return { status };
}

/** The path with names of things that exist, so that not every request is about nothing. */
async function filled(path: string): Promise<string> {
  const names: Record<string, string> = {
    type: 'some-type',
    name: 'some-workflow',
    version: '1',
    step: 'approve',
    sessionId: session.id,
  };
  if (path.startsWith('/v1/tasks/{id}'))
    names.id = await made('/v1/tasks', { type: 'nobody-does' });
  if (path.startsWith('/v1/runs/{id}')) names.id = await made('/v1/runs', WAITING);
  if (path.startsWith('/v1/schedules/{id}')) names.id = 'some-schedule';
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => names[name]);
}

const STEP = { taskReferenceName: 'approve', type: 'HUMAN' };
const WAITING = { workflow: 'waiting', definition: { tasks: [STEP] } };

async function made(path: string, body: object): Promise<string> {
  const response = await fetch(server.url + path, { method: 'POST', body: JSON.stringify(body) });
  const { id } = (await response.json()) as { id: string };
  return id;
}

async function openSession(): Promise<{ id: string; end(): void }> {
  const done = new AbortController();
  const response = await fetch(`${server.url}/v1/worker-sessions`, {
    method: 'POST',
    body: JSON.stringify({ name: 'w', types: [{ type: 'none' }], leaseMs: 600_000 }),
    signal: done.signal,
  });
  const reader = response.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  const [id = ''] = /s_[A-Za-z0-9_-]{24}/.exec(new TextDecoder().decode(value)) ?? [];
  return { id, end: () => done.abort() };
}
