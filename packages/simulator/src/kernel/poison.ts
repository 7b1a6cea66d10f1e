import nodeCrypto from 'node:crypto';
import fs from 'node:fs';
import nodeHttp from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { currentContext, type ProcessContext } from './process-context.ts';
import { bytesIn, ContextTimer, sleepIn, uuidIn } from './process-globals.ts';

type InContext = (context: ProcessContext, ...given: never[]) => unknown;

/** Throws, except for code of a simulated process that has an answer to it. */
function poison(what: string, inContext?: InContext) {
  return (...given: unknown[]): never => {
    const context = inContext && currentContext();
    if (context === undefined) throw new Error(`${what} was called in a simulation`);
    return inContext?.(context, ...(given as never[])) as never;
  };
}

/**
 * Makes every source of randomness and real time throw, for the rest of this process. A simulation
 * that used one of them would not be reproducible. Code that runs as a process of the simulation
 * gets the time, the timers and the random numbers of that process.
 */
export function poisonGlobals(): void {
  poisonTime();
  Math.random = poison('Math.random', ({ random }) => random.next());
  globalThis.crypto.getRandomValues = poison('crypto.getRandomValues');
  globalThis.crypto.randomUUID = poison('crypto.randomUUID', uuidIn) as never;
  const drawn: Readonly<Record<string, InContext | undefined>> = {
    randomUUID: uuidIn,
    randomBytes: bytesIn,
  };
  for (const name of ['randomBytes', 'randomInt', 'randomUUID', 'randomFillSync'] as const) {
    Object.assign(nodeCrypto, { [name]: poison(`nodeCrypto.${name}`, drawn[name]) });
  }
  nodeHttp.request = poison('http.request', ({ requestHttp }, ...given) => requestHttp(...given));
  poisonFileSystem();
}

function poisonTime(): void {
  const RealDate = Date;
  const wallTime = poison('Date.now', ({ process }) => process.wall());
  globalThis.Date = new Proxy<DateConstructor>(RealDate, {
    construct: (target, given) => {
      if (given.length === 0) poison('new Date()')();
      return Reflect.construct(target, given) as Date;
    },
    apply: poison('Date()'),
    get: (target, name) => (name === 'now' ? wallTime : Reflect.get(target, name)),
  });
  performance.now = poison('performance.now', ({ process }) => process.monotonic());
  process.hrtime = Object.assign(poison('process.hrtime'), {
    bigint: poison('process.hrtime.bigint'),
  }) as never;
  const startTimer = (repeats: boolean): InContext => {
    return (context, run: () => void, delayMs = 0) => {
      return new ContextTimer(context, delayMs, run, repeats);
    };
  };
  const timersOfProcess: Readonly<Record<string, InContext | undefined>> = {
    setTimeout: startTimer(false),
    setInterval: startTimer(true),
  };
  for (const name of ['setTimeout', 'setInterval', 'setImmediate', 'fetch'] as const) {
    globalThis[name] = poison(name, timersOfProcess[name]) as never;
  }
  for (const name of ['clearTimeout', 'clearInterval'] as const) {
    const clear = globalThis[name];
    globalThis[name] = ((timer: unknown) => {
      if (timer instanceof ContextTimer) timer.cancel();
      else clear(timer as never);
    }) as never;
  }
  timers.setTimeout = poison('timers.setTimeout', sleepIn) as never;
}

/** The report of a run needs it after the run. */
const STANDARD_STREAMS = ['writeSync'];

function poisonFileSystem(): void {
  const everything = { ...fs, ...fs.promises };
  const names = Object.keys(everything).filter(
    (name) => typeof everything[name as keyof typeof everything] === 'function',
  );
  for (const name of names) {
    if (STANDARD_STREAMS.includes(name) || /^[A-Z_]/.test(name)) continue;
    if (name in fs) Object.assign(fs, { [name]: poison(`fs.${name}`) });
    if (name in fs.promises) Object.assign(fs.promises, { [name]: poison(`fs.promises.${name}`) });
  }
  syncBuiltinESMExports();
}
