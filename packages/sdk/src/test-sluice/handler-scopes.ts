import type { VirtualTimers } from './virtual-timers.ts';

/** The run of a handler that the current code belongs to. */
export interface HandlerScope {
  /** All handlers of the same server. Leases of two servers may have the same text. */
  readonly handlers: object;
  readonly lease: string;
  /** Timers that replace the global ones in this handler; absent when it uses the real ones. */
  readonly timers?: VirtualTimers;
}

interface AsyncStorage {
  run<T>(scope: HandlerScope | undefined, run: () => T): T;
  getStore(): HandlerScope | undefined;
}

/** Without an import, because this entry also runs in browsers, which have nothing like it. */
function asyncStorage(): AsyncStorage | undefined {
  const { process } = globalThis as {
    process?: { getBuiltinModule?: (name: string) => unknown };
  };
  const hooks = process?.getBuiltinModule?.('node:async_hooks') as
    | { AsyncLocalStorage: new () => AsyncStorage }
    | undefined;
  return hooks === undefined ? undefined : new hooks.AsyncLocalStorage();
}

const storage = asyncStorage();

/** Whether this platform can tell which handler the current code belongs to. */
export const HAS_SCOPES = storage !== undefined;

/** Runs code as part of a handler, and everything that it starts. */
export function inScope<T>(scope: HandlerScope, run: () => T): T {
  return storage === undefined ? run() : storage.run(scope, run);
}

/** The handler that the current code belongs to; undefined in the code of a test. */
export function currentScope(): HandlerScope | undefined {
  return storage?.getStore();
}
