import { fork } from 'node:child_process';
import type { PartitionOptions } from '@sluice/core';
import { envWithCompileCache } from './compile-cache.ts';
import type { Fold, FoldOrder, FoldOutcome, StartFold } from './fold.ts';

/** Log and snapshots in folders of this machine. */
interface FoldFolders {
  readonly logFolder: string;
  readonly snapshotFolder: string;
}

/** Log and snapshots elsewhere: the module exports `openFoldSource`, which gets the options. */
interface FoldModule {
  readonly module: string;
  readonly options: unknown;
}

/** What `openFoldSource` of a `FoldModule` resolves with. */
export type FoldSource = Pick<FoldOrder, 'snapshots' | 'readLog'>;

export interface FoldProcessOptions extends Omit<PartitionOptions, 'utf8' | 'calendar'> {
  /** Where the process finds its data. */
  readonly source: FoldFolders | FoldModule;
}

/** The first message to the process. */
export interface FoldProcessOrder extends FoldProcessOptions {
  readonly upTo: number;
  readonly serverPid: number;
}

/**
 * Folds in a separate process that reads the log beside its holder, and ends with each fold. It is
 * not a thread of the server: whatever ends it (no memory, a bug of the runtime) ends nothing else
 * (docs/decisions/0017).
 */
export function foldInOwnProcess(options: FoldProcessOptions): StartFold {
  return (upTo) => {
    try {
      return startFold({ ...options, upTo, serverPid: process.pid });
    } catch (cause) {
      // A machine without memory or room for another process fails at once.
      const reason = String(cause);
      return { done: Promise.resolve({ kind: 'failed', reason }), cancel: async () => undefined };
    }
  };
}

function startFold(order: FoldProcessOrder): Fold {
  const child = fork(new URL('./fold-process.ts', import.meta.url), {
    // Debugger and profiler options of the server do not apply to it.
    execArgv: [],
    env: envWithCompileCache(),
    serialization: 'advanced',
    // The server decides what Ctrl-C in its terminal means.
    detached: true,
    // Anything it prints is the runtime's last message before it aborts.
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
  // If the process ends before it gets this message, the events above report it.
  if (child.connected) child.send(order, () => undefined);
  return {
    done,
    cancel: async () => {
      child.kill('SIGKILL');
      await done;
    },
  };
}
