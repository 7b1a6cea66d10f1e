import type { Sluice, TaskHandle, TaskView } from '@sluice/sdk';

const AT_ONCE = 100;
const HOLD_MS_MAX = 500;

/**
 * A client that keeps a fixed number of tasks in progress, and checks each result as it arrives.
 */
export class SquareLoad {
  private readonly sluice: Sluice;
  private readonly tasks: TaskHandle<unknown>[] = [];
  private readonly lanes: Promise<void>[] = [];
  private isOn = true;
  private submitted = 0;
  /** Wrong results, and failed calls. */
  readonly problems: unknown[] = [];
  /** Number of results so far. */
  ended = 0;

  constructor(sluice: Sluice) {
    this.sluice = sluice;
  }

  /** Number of submits that were answered. */
  get stored(): number {
    return this.tasks.length;
  }

  start(): void {
    for (let lane = 0; lane < AT_ONCE; lane++) this.lanes.push(this.keepSubmitting());
  }

  /** Submits nothing more, and resolves when every task has its result. */
  async stop(): Promise<void> {
    this.isOn = false;
    await Promise.all(this.lanes);
  }

  /** All stored tasks, as the server shows them. */
  views(): Promise<TaskView[]> {
    return Promise.all(this.tasks.map((task) => task.get()));
  }

  private async keepSubmitting(): Promise<void> {
    while (this.isOn) {
      try {
        await this.square(this.submitted++);
      } catch (problem) {
        this.problems.push(problem);
      }
    }
  }

  private async square(n: number): Promise<void> {
    // Spread without randomness: some tasks end immediately, some outlive a server or two.
    const holdMs = (n * 37) % HOLD_MS_MAX;
    const task = await this.sluice.submit('square', { n, holdMs });
    this.tasks.push(task);
    const result = await task.result();
    if (result !== n * n) this.problems.push({ n, result });
    this.ended += 1;
  }
}
