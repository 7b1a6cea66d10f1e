/**
 * Sends requests that are made from the server's own OpenAPI document, right and wrong ones:
 * npm run test:requests -- --count 50000 --seed 1
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { ServerProcess } from '../support/server-process.ts';
import {
  type ApiDocument,
  type KnownThings,
  type RandomRequest,
  randomRequests,
} from './random-requests.ts';

const IN_FLIGHT = 16;
const ROUND = 200;
const PROBLEMS_MAX = 20;

/** An answer that takes longer is a hang; waits are asked for with less. */
const ANSWER_WITHIN_MS = 20_000;

export interface StormResult {
  readonly sent: number;
  /** How often each operation answered with each status. */
  readonly answers: ReadonlyMap<string, number>;
  /** What must not be: a 500, a status that is not announced, an answer without the right shape. */
  readonly problems: readonly string[];
}

/** Lets a storm of random requests go over a server. */
export async function requestStorm(
  url: string,
  { count, seed }: { readonly count: number; readonly seed: number },
): Promise<StormResult> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as ApiDocument;
  const known: KnownThings = { tasks: [], sessions: [], types: ['a', 'b', 'c'] };
  const arbitrary = randomRequests(document, known);
  const answers = new Map<string, number>();
  const problems: string[] = [];
  let sent = 0;
  const note = ({ operationId, ...request }: RandomRequest, { status, problem }: Found): void => {
    const name = `${operationId} ${status}`;
    answers.set(name, (answers.get(name) ?? 0) + 1);
    if (problem !== undefined) problems.push(`${describe(request)}: ${problem}`);
    sent += 1;
  };
  // Round by round: a later one is about what an earlier one made.
  for (let round = 0; sent < count && problems.length < PROBLEMS_MAX; round++) {
    const numRuns = Math.min(ROUND, count - sent);
    const requests = fc.sample(arbitrary, { numRuns, seed: seed + round });
    const sendAll = async (): Promise<void> => {
      for (let next = requests.pop(); next !== undefined; next = requests.pop()) {
        note(next, await sendOne(url, shortWait(next), known));
      }
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, sendAll));
  }
  return { sent, answers, problems };
}

/** Nobody learns anything from waiting for a minute. */
function shortWait(request: RandomRequest): RandomRequest {
  const path = request.path.replace(/(timeoutMs|waitMs)=\d+/, '$1=5');
  const body = request.body?.replace(/"timeoutMs":\d+/, '"timeoutMs":5');
  const isWait = request.operationId === 'waitForTask' && !path.includes('timeoutMs');
  return { ...request, path: isWait ? `${path}?timeoutMs=5` : path, body };
}

interface Found {
  readonly status: number;
  readonly problem?: string;
}

async function sendOne(url: string, request: RandomRequest, known: KnownThings): Promise<Found> {
  const { method, path, body, operationId, statuses } = request;
  const giveUp = new AbortController();
  const timer = setTimeout(() => giveUp.abort(), ANSWER_WITHIN_MS);
  try {
    const response = await fetch(url + path, {
      method,
      body,
      signal: giveUp.signal,
    } as RequestInit);
    const { status } = response;
    if (response.headers.get('content-type')?.startsWith('text/event-stream') === true) {
      if (operationId === 'openWorkerSession') await hearWelcome(response, known);
      // A stream goes on for as long as there is something to tell.
      else await response.body?.cancel();
      return { status };
    }
    const text = await response.text();
    learn(text, known);
    return { status, ...problemOf(status, text, statuses) };
  } catch (cause) {
    return { status: 0, problem: `no answer: ${(cause as Error).message}` };
  } finally {
    clearTimeout(timer);
  }
}

function problemOf(status: number, text: string, statuses: readonly string[]) {
  if (status >= 500) return { problem: `${status} ${text}` };
  // What a framework finds before it knows the route: the address itself makes no sense.
  const isAnnounced = statuses.includes(String(status)) || [400, 404, 405].includes(status);
  if (!isAnnounced) return { problem: `status ${status} is not announced: ${text}` };
  if (status < 400) return {};
  const { error } = JSON.parse(text) as { error?: { code?: string; requestId?: string } };
  const isShaped = error?.code !== undefined && error.requestId !== undefined;
  return isShaped ? {} : { problem: `an error of another shape: ${text}` };
}

/** The first event names the session; then the stream is cut. */
async function hearWelcome(response: Response, { sessions }: KnownThings): Promise<void> {
  const reader = response.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  const [id] = /s_[A-Za-z0-9_-]{24}/.exec(new TextDecoder().decode(value)) ?? [];
  if (id !== undefined && sessions.length < 50) sessions.push(id);
  await reader?.cancel();
}

function learn(text: string, { tasks }: KnownThings): void {
  if (tasks.length >= 500) return;
  for (const [id] of text.matchAll(/t_[0-9a-v]{20}/g)) tasks.push(id);
}

function describe({ method, path, body }: Omit<RandomRequest, 'operationId'>): string {
  return `${method} ${path} ${body?.slice(0, 300) ?? ''}`;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { count: { type: 'string' }, seed: { type: 'string' } },
  });
  const [count, seed] = [Number(values.count ?? 50_000), Number(values.seed ?? Date.now())];
  const folder = await mkdtemp(join(tmpdir(), 'sluice-requests-'));
  const server = await ServerProcess.startDev(folder);
  process.stdout.write(`${count} requests, seed ${seed}\n`);
  const { sent, answers, problems } = await requestStorm(server.url, { count, seed });
  await server.kill();
  await rm(folder, { recursive: true });
  for (const [name, times] of [...answers].sort()) process.stdout.write(`${times}\t${name}\n`);
  for (const problem of problems) process.stdout.write(`PROBLEM ${problem}\n`);
  process.stdout.write(`${sent} sent, ${problems.length} problems\n`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}

if (import.meta.main) await main();
