/**
 * Runs seeds in a separate process whose clocks, random numbers and files are poisoned. The parent
 * sends orders one by one. Each is answered with its result.
 */
import { poisonGlobals } from '../kernel/poison.ts';
import { runSeed, type SeedOrder, type SeedResult } from './run-seed.ts';
import { type ShrunkFailure, shrink } from './shrink.ts';

/** What the parent receives for one seed. */
export interface SeedAnswer {
  readonly result: SeedResult;
  readonly shrunk?: ShrunkFailure;
  /** CPU time of this process for this seed. */
  readonly cpuMs: number;
}

export interface ProcessOrder extends SeedOrder {
  readonly trace?: boolean;
  /** Runs the seed a second time, to check that both runs are equal. */
  readonly twice?: boolean;
  readonly shrinks?: boolean;
}

const { cpuUsage } = process;

async function carryOut(order: ProcessOrder): Promise<SeedAnswer> {
  const before = cpuUsage();
  const print = order.trace === true ? (line: string) => console.log(line) : undefined;
  const result = await runSeed({ ...order, ...(print === undefined ? {} : { print }) });
  const again = order.twice === true ? await runSeed(order) : result;
  const same = again.traceHash === result.traceHash ? result : { ...result, failure: TWO_RUNS };
  const { user, system } = cpuUsage(before);
  const cpuMs = (user + system) / 1000;
  if (same.failure === undefined || order.shrinks !== true) return { result: same, cpuMs };
  return { result: same, shrunk: await shrink(order, same.failure), cpuMs };
}

const TWO_RUNS = {
  rule: 'simulation.same-order',
  message: 'two runs of this seed are not the same',
  stack: '',
  at: 0,
  lastLines: [],
};

poisonGlobals();
process.on('message', (order: ProcessOrder) => {
  void carryOut(order).then((answer) => process.send?.(answer));
});
