import { fork } from 'node:child_process';
import type { PartitionOptions } from '@sluice/core';
import { envWithCompileCache } from './compile-cache.ts';
import type { Fold, FoldOutcome, StartFold } from './fold.ts';

/** Where a process of its own finds what it folds. */
export interface FoldProcessOptions extends Omit<PartitionOptions, 'utf8'> {
  readonly logFolder: string;
  readonly snapshotFolder: string;
}

/** What such a process is told first. */
export interface FoldProcessOrder extends FoldProcessOptions {
  readonly upTo: number;
  readonly serverPid: number;
}

/**
 * Folds in a process that reads the log's folder beside its holder, and ends with each fold. It is
 * no thread of the server, so that whatever ends it (no memory, a bug of the runtime) ends nothing
 * else (docs/decisions/0017).
 */
export function foldInOwnProcess(options: FoldProcessOptions): StartFold {
  return (upTo) => {
    try {
      return startFold({ ...options, upTo, serverPid: process.pid });
    } catch (cause) {
      // A machine without memory or room for one more process says so at once.
      const reason = String(cause);
      return { done: Promise.resolve({ kind: 'failed', reason }), cancel: async () => undefined };
    }
  };
}

function startFold(order: FoldProcessOrder): Fold {
  const child = fork(new URL('./fold-process.ts', import.meta.url), {
    // A debugger or profiler of the server is not meant for it.
    execArgv: [],
    env: envWithCompileCache(),
    serialization: 'advanced',
    // Ctrl-C in the server's terminal is for the server to decide about.
    detached: true,
    // What it prints is the runtime's last word before it gives up.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  let outcome: FoldOutcome | undefined;
  const { promise: done, resolve } = Promise.withResolvers<FoldOutcome>();
  child.once('message', (said: FoldOutcome) => {
    outcome = said;
  });
  child.once('error', ({ message }) => resolve({ kind: 'failed', reason: message }));
  child.once('exit', (code, signal) => {
    const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
    resolve(outcome ?? { kind: 'failed', reason: `the process of the fold ended ${how}` });
  });
  // If it is gone before it hears this, the events above tell.
  if (child.connected) child.send(order, () => undefined);
  return {
    done,
    cancel: async () => {
      child.kill('SIGKILL');
      await done;
    },
  };
}
