import type { PushedTask } from '@sluice/protocol';
import type { Ending, Progress } from '@sluice/sdk/logic';
import type { TaskInput } from '../clients/draw-task.ts';
import type { RandomStream } from '../kernel/random.ts';
import type { SimProcess } from '../kernel/sim-process.ts';
import { blobWith } from '../server/sim-blobs.ts';

export interface HandlerParts {
  readonly process: SimProcess;
  readonly random: RandomStream;
  /** Every handler succeeds immediately. */
  readonly isFlawless: boolean;
  /** `isAborted` says that the handler was told to stop before it ended. */
  readonly finish: (lease: string, ending: Ending, isAborted: boolean) => void;
  readonly heartbeat: (lease: string) => void;
  readonly progress: (lease: string, progress: Progress) => void;
}

const HEARTBEAT_MS = 1000;

/** Handlers that do what the input of their task says. */
export class SimHandlers {
  private readonly parts: HandlerParts;
  private readonly running = new Set<string>();
  /** Running handlers that were told to stop. */
  private readonly aborted = new Set<string>();

  constructor(parts: HandlerParts) {
    this.parts = parts;
  }

  run({ lease, input, heartbeatTimeoutMs }: PushedTask): void {
    const { process, random } = this.parts;
    const todo = input as TaskInput;
    const { runMs, end } = todo;
    this.running.add(lease);
    if (this.parts.isFlawless) {
      process.after(10, () => this.end(lease, endingOf('succeeded', todo)));
      return;
    }
    if (heartbeatTimeoutMs !== undefined && end !== 'hangs') this.beat(lease);
    if (random.chance(0.1)) this.parts.progress(lease, { fraction: 0.5, message: 'half' });
    if (end === 'hangs') return;
    process.after(runMs, () => this.end(lease, endingOf(end, todo)));
  }

  /** Most handlers stop. The others continue, and their later result is ignored. */
  abort(lease: string): void {
    const { process, random } = this.parts;
    if (this.running.has(lease)) this.aborted.add(lease);
    if (random.chance(0.3)) return;
    process.after(random.logarithmic(1, 3000), () => this.end(lease, { kind: 'cancelled' }));
  }

  /** Whether the handler runs and was not told to stop. */
  runsUnaware(lease: string): boolean {
    return this.running.has(lease) && !this.aborted.has(lease);
  }

  /** All handlers that run and were not told to stop. */
  unaware(): string[] {
    return [...this.running].filter((lease) => !this.aborted.has(lease));
  }

  private end(lease: string, ending: Ending): void {
    if (!this.running.delete(lease)) return;
    this.parts.finish(lease, ending, this.aborted.delete(lease));
  }

  private beat(lease: string): void {
    this.parts.process.after(HEARTBEAT_MS, () => {
      if (!this.running.has(lease)) return;
      this.parts.heartbeat(lease);
      this.beat(lease);
    });
  }
}

export function endingOf(end: TaskInput['end'], { n, gives = { n }, inBlob }: TaskInput): Ending {
  const outputBlob = inBlob === true ? blobWith(gives) : undefined;
  switch (end) {
    case 'succeeded':
      if (outputBlob !== undefined) return { kind: 'succeeded', outputBlob };
      return { kind: 'succeeded', output: JSON.stringify(gives) };
    case 'later':
      return { kind: 'later' };
    case 'failed for good':
      return { kind: 'failed', error: { message: 'told to' }, retryable: false };
    case 'retry after':
      return { kind: 'failed', error: { message: 'told to' }, retryAfterMs: 700 };
    default:
      return { kind: 'failed', error: { message: 'told to' } };
  }
}
