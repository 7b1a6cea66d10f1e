/** Sends valid and invalid requests that are made from the server's own OpenAPI document. */
import { inspect } from 'node:util';
import fc from 'fast-check';
import { KnownThings } from './known-things.ts';
import {
  type ApiDocument,
  numberSweep,
  type RandomRequest,
  randomRequests,
} from './random-requests.ts';
import { StormStreams } from './storm-streams.ts';

const IN_FLIGHT = 16;
const ROUND = 200;
const PROBLEMS_MAX = 20;

/** A slower answer counts as a hang. Long polls ask for shorter waits. */
const ANSWER_WITHIN_MS = 20_000;

export interface StormResult {
  readonly sent: number;
  /** Number of answers per operation and status. */
  readonly answers: ReadonlyMap<string, number>;
  /** A 500, a status that is not announced, or an answer of the wrong shape. */
  readonly problems: readonly string[];
}

export interface StormPlan {
  readonly count: number;
  readonly seed: number;
  /** Whether the sweep over all numbers of all schemas runs first. */
  readonly sweeps?: boolean;
}

/** Sends a storm of random requests to a server. */
export async function requestStorm(
  url: string,
  { count, seed, sweeps = false }: StormPlan,
  known = new KnownThings(),
): Promise<StormResult> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as ApiDocument;
  const storm = new Storm(url, known);
  if (sweeps) {
    const requests = numberSweep(document, known);
    await storm.sendAll(requests.map((each, place) => drawn(each, seed + place)));
  }
  const arbitrary = randomRequests(document, known);
  // In rounds: a later request is about what an earlier one created.
  for (let round = 0; round * ROUND < count; round++) {
    const numRuns = Math.min(ROUND, count - round * ROUND);
    const requests = fc.sample(arbitrary, { numRuns, seed: seed + round });
    await storm.sendAll(requests.map((request) => () => request));
  }
  await storm.streams.cutAll();
  return storm;
}

/** Drawn only when it is sent, so that the things that it names exist by then. */
function drawn(arbitrary: fc.Arbitrary<RandomRequest>, seed: number): () => RandomRequest {
  return () => fc.sample(arbitrary, { numRuns: 1, seed })[0];
}

class Storm implements StormResult {
  sent = 0;
  readonly answers = new Map<string, number>();
  readonly problems: string[] = [];
  readonly streams: StormStreams;
  private readonly url: string;
  private readonly known: KnownThings;
  /** Number of types that only one session offers. */
  private ownTypes = 0;

  constructor(url: string, known: KnownThings) {
    this.url = url;
    this.known = known;
    this.streams = new StormStreams(known);
  }

  async sendAll(requests: (() => RandomRequest)[]): Promise<void> {
    const work = async (): Promise<void> => {
      while (this.problems.length < PROBLEMS_MAX) {
        const next = requests.pop();
        if (next === undefined) return;
        await this.sendAndNote(shortWait(next()));
      }
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, work));
  }

  private async sendAndNote(request: RandomRequest): Promise<void> {
    const isWorker = request.operationId === 'openWorkerSession';
    const sent = isWorker ? await this.withWork(request) : this.byHolder(request);
    const { status, problem } = await this.sendOne(sent);
    const name = `${request.operationId} ${status}`;
    this.answers.set(name, (this.answers.get(name) ?? 0) + 1);
    if (problem !== undefined) this.problems.push(`${describe(sent)}: ${problem}`);
    this.sent += 1;
  }

  /** A new worker gets a task that no other worker can have taken. */
  private async withWork(request: RandomRequest): Promise<RandomRequest> {
    const type = `own-${this.ownTypes++}`;
    const body = request.body?.replace(/("types":\[\{"type":)"[^"]*"/, `$1"${type}"`);
    if (body === request.body) return request;
    const task = { method: 'POST', body: JSON.stringify({ type }) };
    const answer = await fetch(`${this.url}/v1/tasks`, task).catch(() => undefined);
    if (answer?.ok === true) this.known.acknowledge(await answer.text());
    return { ...request, body };
  }

  /** Sends a report for the session that holds the lease, if that is known. */
  private byHolder(request: RandomRequest): RandomRequest {
    const holder = request.operationId === 'reportAttempts' && this.known.holderIn(request.body);
    return holder ? { ...request, path: `/v1/worker-sessions/${holder}/reports` } : request;
  }

  private async sendOne({
    method,
    path,
    body,
    operationId,
    statuses,
  }: RandomRequest): Promise<Found> {
    const giveUp = new AbortController();
    const timer = setTimeout(() => giveUp.abort(), ANSWER_WITHIN_MS);
    try {
      const request = { method, body, signal: giveUp.signal } as RequestInit;
      const response = await fetch(this.url + path, request);
      const { status } = response;
      if (response.headers.get('content-type')?.startsWith('text/event-stream') === true) {
        if (operationId === 'openWorkerSession') await this.streams.follow(response);
        // An event stream continues as long as there are events.
        else await response.body?.cancel();
        return { status };
      }
      const text = await response.text();
      this.known.learn(text);
      if (operationId === 'submitTasks' && response.ok) this.known.acknowledge(text);
      return { status, ...problemOf(status, text, statuses) };
    } catch (cause) {
      // A resume may displace a stream before its headers are sent. Then the connection just ends.
      if (operationId === 'openWorkerSession' && isCut(cause)) return { status: 0 };
      return { status: 0, problem: `no answer: ${inspect(cause)}` };
    } finally {
      clearTimeout(timer);
    }
  }
}

/** A wait of a minute would show nothing more. */
function shortWait(request: RandomRequest): RandomRequest {
  const { operationId } = request;
  const path = request.path.replace(/(timeoutMs|waitMs)=\d+(?!\d*[.e])/, '$1=5');
  const body = request.body?.replace(/"timeoutMs":\d+(?!\d*[.e])/, '"timeoutMs":5');
  const isUnlimited = !`${path}${body}`.includes('timeoutMs');
  if (!isUnlimited) return { ...request, path, body };
  if (operationId === 'waitForTask') return { ...request, path: `${path}?timeoutMs=5`, body };
  const isWait = operationId === 'waitForTasks';
  return { ...request, path, body: isWait ? body?.replace(/\}$/, ',"timeoutMs":5}') : body };
}

interface Found {
  readonly status: number;
  readonly problem?: string;
}

function isCut(cause: unknown): boolean {
  return ((cause as Error).cause as { code?: string } | undefined)?.code === 'UND_ERR_SOCKET';
}

function problemOf(status: number, text: string, statuses: readonly string[]) {
  if (status >= 500) return { problem: `${status} ${text}` };
  // The framework answers with these before it knows the route, for addresses that make no sense.
  const isAnnounced = statuses.includes(String(status)) || [400, 404, 405].includes(status);
  if (!isAnnounced) return { problem: `status ${status} is not announced: ${text}` };
  if (status < 400) return {};
  const { error } = JSON.parse(text) as { error?: { code?: string; requestId?: string } };
  const isShaped = error?.code !== undefined && error.requestId !== undefined;
  return isShaped ? {} : { problem: `an error of another shape: ${text}` };
}

function describe({ method, path, body }: Omit<RandomRequest, 'operationId'>): string {
  return `${method} ${path} ${body?.slice(0, 300) ?? ''}`;
}
