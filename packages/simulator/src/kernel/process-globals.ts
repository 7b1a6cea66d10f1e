import type { ProcessContext } from './process-context.ts';
import { inProcessAfter } from './process-context.ts';

/** A timer as the platform returns it. */
export class ContextTimer {
  private stop: () => void = () => undefined;

  constructor(context: ProcessContext, delayMs: number, run: () => void, repeats = false) {
    const start = (): void => {
      this.stop = inProcessAfter(context, delayMs, () => {
        if (repeats) start();
        run();
      });
    };
    start();
  }

  unref(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  cancel(): void {
    this.stop();
  }
}

/** `setTimeout` of `node:timers/promises`. */
export function sleepIn(
  context: ProcessContext,
  delayMs: number,
  value?: unknown,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const timer = new ContextTimer(context, delayMs, () => resolve(value));
    signal?.addEventListener('abort', () => {
      timer.cancel();
      reject(signal.reason as Error);
    });
  });
}

export function bytesIn({ random }: ProcessContext, count: number): Buffer {
  return Buffer.from(Array.from({ length: count }, () => random.integer(0, 255)));
}

export function uuidIn(context: ProcessContext): string {
  const hex = bytesIn(context, 16).toString('hex');
  return hex.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5');
}
