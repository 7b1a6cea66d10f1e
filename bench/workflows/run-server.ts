import { setTimeout as sleep } from 'node:timers/promises';
import { openConnection } from '../path/connection.ts';
import { ServerProcess } from '../path/server-process.ts';
import { type Definition, RUN_INPUT, WORKFLOW } from './definitions.ts';

const CONNECTIONS = 8;
const BATCH = 100;
const WAIT_MS = 60_000;
const POLL_MS = 50;

/** The part of an answer about a run that the rows look at. */
interface RunAnswer {
  readonly status: string;
}

interface StepAnswer {
  readonly reference: string;
  readonly endedAt: string | null;
}

/** A real server that knows the definition of a row. */
export class RunServer {
  readonly process: ServerProcess;

  private constructor(process: ServerProcess) {
    this.process = process;
  }

  static async start(definition: Definition): Promise<RunServer> {
    const server = new RunServer(await ServerProcess.start());
    const path = `/v1/workflows/${WORKFLOW}/versions/1`;
    await server.ask(path, { method: 'PUT', body: JSON.stringify(definition) });
    return server;
  }

  get url(): string {
    return this.process.url;
  }

  /** Starts runs as fast as they are acknowledged; returns the ids of the last batches. */
  async startRuns(runs: number): Promise<string[]> {
    let left = runs;
    const last: string[][] = [];
    const keepStarting = async (place: number): Promise<void> => {
      const connection = openConnection('http1', this.url);
      while (left > 0) {
        const count = Math.min(BATCH, left);
        left -= count;
        const run = { workflow: WORKFLOW, input: RUN_INPUT };
        const answer = await connection.post('/v1/runs', JSON.stringify(Array(count).fill(run)));
        const started = JSON.parse(answer.toString('utf8')) as { items: { id: string }[] };
        last[place] = started.items.map(({ id }) => id);
      }
      connection.close();
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, (_, place) => keepStarting(place)));
    return last.flat();
  }

  /** Waits for a run, which must succeed. */
  async succeeded(id: string): Promise<RunAnswer> {
    const answer = await this.ask(`/v1/runs/${id}/wait?timeoutMs=${WAIT_MS}`);
    const run = (await answer.json()) as RunAnswer;
    if (run.status !== 'succeeded') throw new Error(`a run is ${run.status}`);
    return run;
  }

  /** All steps of a run. */
  async steps(id: string): Promise<StepAnswer[]> {
    const steps: StepAnswer[] = [];
    for (let more = ''; ; ) {
      const answer = await this.ask(`/v1/runs/${id}/steps?limit=500${more}`);
      const { items, nextCursor } = (await answer.json()) as {
        readonly items: readonly StepAnswer[];
        readonly nextCursor: string | null;
      };
      steps.push(...items);
      if (nextCursor === null) return steps;
      more = `&cursor=${nextCursor}`;
    }
  }

  /** The run with the first of its steps, as JSON text. */
  async view(id: string): Promise<string> {
    return (await this.ask(`/v1/runs/${id}`)).text();
  }

  /** Waits until this number of steps of a run are running. */
  async entered(id: string, steps: number): Promise<void> {
    for (;;) {
      const { counts } = JSON.parse(await this.view(id)) as { counts: Record<string, number> };
      if ((counts.running ?? 0) >= steps) return;
      await sleep(POLL_MS);
    }
  }

  stop(): Promise<void> {
    return this.process.stop();
  }

  private async ask(path: string, request: RequestInit = {}): Promise<Response> {
    const answer = await fetch(`${this.url}${path}`, request);
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return answer;
  }
}
