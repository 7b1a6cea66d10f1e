import type { Worker } from 'node:worker_threads';
import { CPU_MS_MAX } from './sandbox.ts';
import type { ThreadProgress } from './thread-progress.ts';

/** How often a busy thread is looked at. */
const LOOK_MS = 500;

/**
 * The interpreter stops a script between two of its instructions. One instruction may take long,
 * such as the search of a huge list, and is given this much more before its thread is ended.
 */
const OVERRUN_MS = 500;

/** A thread that shows no progress for this long is ended, however little CPU it used. */
const PATIENCE_MS = 20_000;

/** Why a thread has to be ended: its script took too much CPU, or it does not respond. */
export type Verdict = 'overrun' | 'silent';

/**
 * Looks after the thread that evaluates scripts. The CPU time of the thread counts, not the time
 * that passes: a busy machine must not fail a script.
 */
export class ScriptWatch {
  private readonly worker: Pick<Worker, 'cpuUsage'>;
  private readonly progress: Pick<ThreadProgress, 'current' | 'beganAtCpuMs'>;
  private readonly onVerdict: (verdict: Verdict, id: number) => void;
  private timer: NodeJS.Timeout | undefined;
  private seen = 0;
  private seenAt = 0;

  constructor(
    worker: Pick<Worker, 'cpuUsage'>,
    progress: Pick<ThreadProgress, 'current' | 'beganAtCpuMs'>,
    onVerdict: (verdict: Verdict, id: number) => void,
  ) {
    this.worker = worker;
    this.progress = progress;
    this.onVerdict = onVerdict;
  }

  /** Begins to look, unless it does so already. */
  start(): void {
    if (this.timer !== undefined) return;
    this.seenAt = performance.now();
    this.timer = setInterval(() => void this.look(), LOOK_MS);
    this.timer.unref();
  }

  /** The thread has answered. */
  heard(): void {
    this.seenAt = performance.now();
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  async look(): Promise<void> {
    const { current } = this.progress;
    if (current !== this.seen) {
      this.seen = current;
      this.seenAt = performance.now();
    } else if (performance.now() - this.seenAt > PATIENCE_MS) return this.say('silent', current);
    if (current === 0) return;
    const used = await this.cpuMs();
    // The thread has gone on, and the time is that of another script.
    if (this.progress.current !== current) return;
    if (used - this.progress.beganAtCpuMs > CPU_MS_MAX + OVERRUN_MS) this.say('overrun', current);
  }

  /** Of a thread that has just ended: nothing, because its script is asked again anyway. */
  private async cpuMs(): Promise<number> {
    try {
      const { user, system } = await this.worker.cpuUsage();
      return (user + system) / 1000;
    } catch {
      return 0;
    }
  }

  private say(verdict: Verdict, id: number): void {
    if (this.timer === undefined) return;
    this.stop();
    this.onVerdict(verdict, id);
  }
}
