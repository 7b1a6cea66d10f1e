import nodeCrypto from 'node:crypto';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Makes every source of randomness and real time throw, for the rest of this process. A simulation
 * that used one of them would not be reproducible.
 */
export function poisonGlobals(): void {
  const poison = (what: string) => (): never => {
    throw new Error(`${what} was called in a simulation`);
  };
  const RealDate = Date;
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, given) => {
      if (given.length === 0) poison('new Date()')();
      return Reflect.construct(target, given) as Date;
    },
    apply: poison('Date()'),
    get: (target, name) => (name === 'now' ? poison('Date.now') : Reflect.get(target, name)),
  });
  Math.random = poison('Math.random');
  performance.now = poison('performance.now');
  process.hrtime = Object.assign(poison('process.hrtime'), {
    bigint: poison('process.hrtime.bigint'),
  }) as never;
  for (const name of ['setTimeout', 'setInterval', 'setImmediate', 'fetch'] as const) {
    globalThis[name] = poison(name) as never;
  }
  globalThis.crypto.getRandomValues = poison('crypto.getRandomValues');
  globalThis.crypto.randomUUID = poison('crypto.randomUUID') as never;
  for (const name of ['randomBytes', 'randomInt', 'randomUUID', 'randomFillSync'] as const) {
    Object.assign(nodeCrypto, { [name]: poison(`nodeCrypto.${name}`) });
  }
  poisonFileSystem(poison);
}

/** The report of a run needs it after the run. */
const STANDARD_STREAMS = ['writeSync'];

function poisonFileSystem(poison: (what: string) => () => never): void {
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
