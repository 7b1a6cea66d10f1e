import { defineTask, Sluice, type TaskHandle } from '@sluice/sdk';
import { waitUntil } from '../support/wait-until.ts';

const TIMEOUT_MS = 120_000;
/** Longer than any server is away. */
const LEASE_MS = 60_000;
const SLOTS = 50;
/** Loops that submit one task after the other. */
const LANES = 4;
const PROBLEMS_SHOWN_MAX = 20;

type ClientOptions = ConstructorParameters<typeof Sluice>[0];

/**
 * Submits tasks that double a number, and works on them, while somebody takes servers away. Every
 * acknowledged task must end with the right output, and no handler may run twice.
 */
export class DoublingLoad {
  readonly acknowledged = new Map<number, TaskHandle<number>>();
  /** The longest time that a submit took, in ms, since it was last set to 0. */
  longestMs = 0;
  /** What the SDK said of each submit that it rejected, since somebody last emptied it. */
  readonly failures: string[] = [];
  private readonly client: Sluice;
  /** How often each task ran, by id. */
  private readonly runs = new Map<string, number>();
  private isStopped = false;
  private loops: Promise<void>[] = [];
  private readonly double = defineTask({
    type: 'double',
    run: async (input: number, { id }) => {
      this.runs.set(id, (this.runs.get(id) ?? 0) + 1);
      return input * 2;
    },
  });

  constructor(options: ClientOptions) {
    this.client = new Sluice(options);
  }

  async start(): Promise<void> {
    await this.client.work([this.double], {
      handleSignals: false,
      concurrency: { double: SLOTS },
      leaseMs: LEASE_MS,
      onNotice: () => undefined,
    });
    this.loops = Array.from({ length: LANES }, (_, lane) => this.loop(lane));
  }

  /** Resolves when this many more tasks were acknowledged. */
  async goesOn(count: number): Promise<void> {
    const before = this.acknowledged.size;
    const hasMore = () => this.acknowledged.size > before + count;
    await waitUntil(hasMore, { what: 'tasks are acknowledged', timeoutMs: TIMEOUT_MS });
  }

  /** Resolves when this many more tasks ran: the worker gets tasks, too. */
  async runsOn(count: number): Promise<void> {
    const before = this.runs.size;
    const hasMore = () => this.runs.size > before + count;
    await waitUntil(hasMore, { what: 'tasks run', timeoutMs: TIMEOUT_MS });
  }

  /** Stops submitting, waits for all tasks, and returns what is wrong with them. */
  async problems(): Promise<string[]> {
    this.isStopped = true;
    await Promise.all(this.loops);
    const problems: string[] = [];
    for (const [input, task] of this.acknowledged) {
      const output = await task
        .result({ timeoutMs: TIMEOUT_MS })
        .catch((cause: Error) => cause.message);
      if (output !== input * 2) problems.push(`${task.id} ended with ${output}`);
      const runs = this.runs.get(task.id) ?? 0;
      if (runs !== 1) problems.push(`${task.id} ran ${runs} times`);
    }
    await this.client.close();
    return problems;
  }

  private async loop(lane: number): Promise<void> {
    for (let n = lane; !this.isStopped; n += 1000) {
      const began = performance.now();
      try {
        this.acknowledged.set(n, await this.client.submit(this.double, n));
      } catch (cause) {
        // Not acknowledged, so nothing is promised about the task.
        this.failures.push((cause as Error).message);
      }
      this.longestMs = Math.max(this.longestMs, performance.now() - began);
    }
  }
}

export function printVerdict(problems: readonly string[], acknowledged: number): void {
  for (const problem of problems.slice(0, PROBLEMS_SHOWN_MAX)) console.log(problem);
  console.log(`${acknowledged} tasks acknowledged`);
  console.log(`${problems.length} violations`);
}
