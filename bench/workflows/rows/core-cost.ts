import { type Figure, type Row, secondsOf } from '../../row.ts';
import { type Definition, dynamicFork, fork, sequence } from '../definitions.ts';
import { RunLoad } from '../run-load.ts';

const SESSION = 'bench';
const SLOTS = 2000;
/** Leases that one report ends. */
const BATCH = 100;
/** Steps that are under way at most, so that the memory that a row touches stays the same. */
const STEPS_AT_ONCE = 1000;
const STEPS = 600_000;

/** The cost of a step in the core: decided, applied and encoded, without any I/O. */
export const row: Row = {
  measure: async ({ share }) => {
    const steps = STEPS * share;
    microsecondsPerStep(sequence(3), 3, steps / 10);
    const [few, many, most] = [10, 1000, 10_000].map((count) => {
      return cost(dynamicFork(count), count, steps);
    });
    const against = (what: string, value: number): Figure => {
      return { what: `a branch of ${what} against one of 10`, unit: '×', value, target: '≤ 1.5' };
    };
    return [
      figure('1 step', microsecondsPerStep(sequence(1), 1, steps)),
      figure('3 steps', microsecondsPerStep(sequence(3), 3, steps)),
      figure('10 steps', microsecondsPerStep(sequence(10), 10, steps)),
      figure('a fork of 500', microsecondsPerStep(fork(500), 500, steps)),
      figure('a dynamic fork of 10', few.microseconds),
      figure('a dynamic fork of 1,000', many.microseconds),
      figure('a dynamic fork of 10,000', most.microseconds),
      against('1,000', many.microseconds / few.microseconds),
      against('10,000', most.microseconds / few.microseconds),
      {
        what: 'a fork of 10,000: longest command in the core',
        unit: 'ms',
        value: most.longestMs,
        target: '≤ 20',
      },
    ];
  },
};

function figure(what: string, value: number): Figure {
  return { what: `core alone: ${what}`, unit: 'µs/step', value };
}

function microsecondsPerStep(definition: Definition, stepsPerRun: number, steps: number): number {
  return cost(definition, stepsPerRun, steps).microseconds;
}

interface Cost {
  readonly microseconds: number;
  /** The longest of all commands. */
  readonly longestMs: number;
}

function cost(definition: Definition, stepsPerRun: number, steps: number): Cost {
  const load = new RunLoad(definition);
  load.attach(SESSION, SLOTS);
  const runs = Math.max(1, Math.round(steps / stepsPerRun));
  const atOnce = Math.max(1, Math.round(STEPS_AT_ONCE / stepsPerRun));
  const leases: string[] = [];
  let started = 0;
  let ended = 0;
  let longestMs = 0;
  let before = 0;
  const take = (): void => {
    longestMs = Math.max(longestMs, performance.now() - before);
    leases.push(...load.granted());
    ended += load.ended;
  };
  const seconds = secondsOf(() => {
    while (ended < runs) {
      before = performance.now();
      const more = Math.min(runs, ended + atOnce) - started;
      if (more > 0) {
        load.start(more);
        started += more;
        take();
        before = performance.now();
      }
      if (leases.length > 0) {
        load.complete(SESSION, leases.splice(0, BATCH));
        take();
      } else if (load.hasWork) {
        load.proceed();
        take();
      } else if (ended < runs) throw new Error(`${runs - ended} runs wait for nothing`);
    }
  });
  return { microseconds: (seconds * 1e6) / (runs * stepsPerRun), longestMs };
}
