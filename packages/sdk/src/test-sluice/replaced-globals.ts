/**
 * Replaces global timers and `Date` by functions that ask which handler calls them. In a handler of
 * a `TestSluice` with `fakeTimers` they use its virtual clock. Everywhere else they call what they
 * replaced.
 *
 * Not replaced: `AbortSignal.timeout`, which mostly limits real requests, `setImmediate`,
 * `queueMicrotask` and `performance.now`.
 */
import { currentScope } from './handler-scopes.ts';
import { VirtualTimer, type VirtualTimers } from './virtual-timers.ts';

type AnyFunction = (...args: never[]) => unknown;
type Replaceable = Record<(typeof NAMES)[number], AnyFunction>;

const NAMES = ['setTimeout', 'setInterval', 'clearTimeout', 'clearInterval', 'Date'] as const;

const PROMISIFIED = Symbol.for('nodejs.util.promisify.custom');

/** Undoes the replacement; undefined while nothing is replaced. */
let restore: (() => void) | undefined;
const users = new Set<object>();

/** Replaces the globals as long as at least one user needs it. */
export function replaceGlobals(user: object, isNeeded: boolean): void {
  if (isNeeded) users.add(user);
  else users.delete(user);
  if (users.size > 0) restore ??= replaced();
  else {
    restore?.();
    restore = undefined;
  }
}

function replaced(): () => void {
  const target = globalThis as unknown as Replaceable;
  const before = Object.fromEntries(NAMES.map((name) => [name, target[name]])) as Replaceable;
  const ours: Replaceable = {
    setTimeout: starter(before.setTimeout, false),
    setInterval: starter(before.setInterval, true),
    clearTimeout: canceller(before.clearTimeout),
    clearInterval: canceller(before.clearInterval),
    Date: routedDate(before.Date as unknown as DateConstructor) as unknown as AnyFunction,
  };
  Object.assign(target, ours);
  const restorePromised = replacePromised();
  return () => {
    restorePromised();
    for (const name of NAMES) {
      // A test may have replaced it again meanwhile.
      if (target[name] === ours[name]) target[name] = before[name];
    }
  };
}

function virtualTimers(): VirtualTimers | undefined {
  return currentScope()?.timers;
}

function starter(real: AnyFunction, isInterval: boolean): AnyFunction {
  const start = (callback: unknown, delayMs: unknown, ...args: unknown[]): unknown => {
    const timers = virtualTimers();
    // The real one says what is wrong with the callback.
    if (timers === undefined || typeof callback !== 'function' || isCalledByNode()) {
      return real(...([callback, delayMs, ...args] as never[]));
    }
    return timers.start({ call: () => callback(...args), delayMs, isInterval });
  };
  const promised = (real as { [PROMISIFIED]?: AnyFunction })[PROMISIFIED];
  if (promised !== undefined) {
    Object.defineProperty(start, PROMISIFIED, { value: sleeper(promised) });
  }
  return start as AnyFunction;
}

/** Which frame of the stack called the replaced function, below this function and that one. */
const CALLER_FRAME = 3;

/**
 * `fetch` starts timers itself. On the virtual clock they would count as something that the
 * handler waits for, and time would pass while a real request is open.
 */
function isCalledByNode(): boolean {
  const caller = new Error().stack?.split('\n')[CALLER_FRAME] ?? '';
  return /[( ]node:internal/.test(caller);
}

function canceller(real: AnyFunction): AnyFunction {
  return ((timer: unknown): unknown => {
    const virtual = timer instanceof VirtualTimer ? timer : virtualTimers()?.find(Number(timer));
    if (virtual === undefined) return real(timer as never);
    virtual.close();
    return undefined;
  }) as AnyFunction;
}

/** `setTimeout` as a promise. */
function sleeper(real: AnyFunction): AnyFunction {
  return ((delayMs: unknown, value: unknown, options: { signal?: AbortSignal } = {}): unknown => {
    const timers = virtualTimers();
    if (timers === undefined) return real(...([delayMs, value, options] as never[]));
    const { signal } = options;
    return new Promise((resolve, reject) => {
      const aborted = (): void => {
        timer.close();
        const cause = { cause: signal?.reason };
        const error = new Error('The operation was aborted', cause);
        reject(Object.assign(error, { name: 'AbortError', code: 'ABORT_ERR' }));
      };
      const call = (): void => {
        signal?.removeEventListener('abort', aborted);
        resolve(value);
      };
      const timer = timers.start({ call, delayMs });
      if (signal?.aborted === true) aborted();
      else signal?.addEventListener('abort', aborted);
    });
  }) as AnyFunction;
}

/** `setTimeout` of `node:timers/promises`, which handlers use to sleep. */
function replacePromised(): () => void {
  const { process } = globalThis as {
    process?: { getBuiltinModule?: (name: string) => unknown };
  };
  const load = (name: string): unknown => process?.getBuiltinModule?.(name);
  const promises = load('node:timers/promises') as { setTimeout: AnyFunction } | undefined;
  const modules = load('node:module') as { syncBuiltinESMExports(): void } | undefined;
  if (promises === undefined || modules === undefined) return () => undefined;
  const real = promises.setTimeout;
  promises.setTimeout = sleeper(real);
  modules.syncBuiltinESMExports();
  return () => {
    promises.setTimeout = real;
    modules.syncBuiltinESMExports();
  };
}

function routedDate(real: DateConstructor): DateConstructor {
  const now = (): number => virtualTimers()?.now() ?? real.now();
  const routed: DateConstructor = new Proxy(real, {
    construct: (target, args, newTarget) => {
      const given = args.length === 0 && virtualTimers() !== undefined ? [now()] : args;
      return Reflect.construct(target, given, newTarget === routed ? target : newTarget);
    },
    apply: () => new real(now()).toString(),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  });
  return routed;
}
