import type { TaskContext } from '@sluice/sdk';
import { TaskAborted } from '@sluice/sdk/logic';
import type { AttemptRecord } from './attempt-record.ts';
import type { GpuShares } from './gpu-shares.ts';

/** What is used of a task here. */
type AttemptContext = Pick<TaskContext, 'id' | 'attempt' | 'lease' | 'resources' | 'signal'>;

/** One attempt that this agent runs. */
export interface LiveAttempt {
  readonly name: string;
  /** Set when an earlier agent started it. */
  readonly adopted: AttemptRecord | undefined;
  readonly gpus: readonly string[];
  /** How much it has written to the disk, at the last look. */
  writtenBytes: number;
  /** Removes what the attempt leaves on the host. */
  cleanUp: () => Promise<void>;
}

/** The attempts that this agent runs: their names, and what they have of the host. */
export class LiveAttempts {
  private readonly gpus: GpuShares;
  private readonly now: () => number;
  private readonly names = new Set<string>();
  private readonly running = new Set<LiveAttempt>();
  private readonly cleaning = new Set<Promise<void>>();
  /** Ends the wait for the answer to the report of each attempt that has ended. */
  private readonly unreported = new Map<string, () => void>();
  /** Attempts of an earlier agent whose handlers have not begun, by lease. */
  private readonly left = new Map<string, AttemptRecord>();

  /** `now` returns milliseconds since 1970. */
  constructor(gpus: GpuShares, now: () => number) {
    this.gpus = gpus;
    this.now = now;
  }

  /** Attempts that are not to be cleaned up. */
  get owned(): ReadonlySet<string> {
    return this.names;
  }

  /** What they have written to the disk, all together. */
  get writtenBytes(): number {
    return [...this.running].reduce((sum, { writtenBytes }) => sum + writtenBytes, 0);
  }

  /** Keeps what an earlier agent left for the handlers that will ask for it. */
  adopt(records: readonly AttemptRecord[]): void {
    for (const record of records) {
      this.names.add(record.name);
      this.gpus.hold(record.gpus);
      this.left.set(record.task.lease, record);
    }
  }

  /**
   * Calls `run` with the attempt of a task, which is owned meanwhile. What it leaves behind is
   * removed when the server has answered how it ended: an agent that is killed before leaves it to
   * the next one, which reports it again.
   */
  async with<T>(context: AttemptContext, run: (live: LiveAttempt) => Promise<T>): Promise<T> {
    const live = this.begin(context);
    this.running.add(live);
    try {
      return await run(live);
    } finally {
      this.running.delete(live);
      this.gpus.giveBack(live.gpus);
      const cleaning = this.clean(live, context);
      this.cleaning.add(cleaning);
      void cleaning.finally(() => this.cleaning.delete(cleaning));
    }
  }

  /** The server has answered how the attempt of this lease ended. */
  reported(lease: string): void {
    this.unreported.get(lease)?.();
    this.unreported.delete(lease);
  }

  /** No more reports will be answered. Resolves when nothing is left to remove. */
  async settled(): Promise<void> {
    for (const lease of [...this.unreported.keys()]) this.reported(lease);
    await Promise.all(this.cleaning);
  }

  /** What cannot be removed now is ownerless, and is removed at the next connection. */
  private async clean({ name, cleanUp }: LiveAttempt, context: AttemptContext): Promise<void> {
    if (hasReport(context)) {
      await new Promise<void>((resolve) => this.unreported.set(context.lease, resolve));
    }
    await cleanUp().catch(() => undefined);
    this.names.delete(name);
  }

  private begin({ id, attempt, lease, resources }: AttemptContext): LiveAttempt {
    const adopted = this.left.get(lease);
    if (adopted !== undefined) {
      this.left.delete(lease);
      return { ...NEW, name: adopted.name, adopted, gpus: adopted.gpus };
    }
    // A lease is granted once, so no other attempt of the task has this name.
    const name = `${id}-${attempt}-${this.now().toString(36)}`;
    const gpus = this.gpus.take(resources.gpu ?? 0);
    // The server counts them too, so this is a defect of one of the two.
    if (gpus === undefined) throw new Error(`${resources.gpu} GPUs are not free here`);
    this.names.add(name);
    return { ...NEW, name, adopted: undefined, gpus };
  }
}

/** Whether the end of the attempt is reported. */
function hasReport({ signal }: AttemptContext): boolean {
  const { reason } = signal;
  if (!(reason instanceof TaskAborted)) return true;
  return reason.type !== 'lease_lost' && reason.type !== 'stopping';
}

const NEW = { writtenBytes: 0, cleanUp: async () => undefined };
