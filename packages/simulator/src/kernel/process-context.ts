import { AsyncLocalStorage } from 'node:async_hooks';
import type { RandomStream } from './random.ts';
import type { SimProcess } from './sim-process.ts';

/**
 * The process whose code runs now. Production code that asks the platform for the time, a timer,
 * random numbers or a connection gets those of its process (`process-globals.ts`). What a promise
 * continues belongs to the process that waited for it.
 */
export interface ProcessContext {
  readonly process: SimProcess;
  readonly random: RandomStream;
  /** `request` of `node:http`. */
  readonly requestHttp: (...given: never[]) => unknown;
}

const contexts = new AsyncLocalStorage<ProcessContext>();

export function currentContext(): ProcessContext | undefined {
  return contexts.getStore();
}

/** Runs code of a process, unless it is gone; while it is stopped, the code waits. */
export function inProcess(context: ProcessContext, run: () => void): void {
  context.process.hear(() => contexts.run(context, run));
}

/** As `inProcess`, after a time on the clock of the process. */
export function inProcessAfter(context: ProcessContext, delayMs: number, run: () => void) {
  return context.process.after(delayMs, () => contexts.run(context, run));
}
