import { type Figure, type Row, secondsOf } from '../../row.ts';
import { type Definition, fork, sequence } from '../definitions.ts';
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
    const few = microsecondsPerStep(fork(10), 10, steps);
    const many = microsecondsPerStep(fork(500), 500, steps);
    return [
      figure('1 step', microsecondsPerStep(sequence(1), 1, steps)),
      figure('3 steps', microsecondsPerStep(sequence(3), 3, steps)),
      figure('10 steps', microsecondsPerStep(sequence(10), 10, steps)),
      figure('a fork of 10', few),
      figure('a fork of 500', many),
      { what: 'a branch of 500 against one of 10', unit: '×', value: many / few, target: '≤ 1.5' },
    ];
  },
};

function figure(what: string, value: number): Figure {
  return { what: `core alone: ${what}`, unit: 'µs/step', value };
}

function microsecondsPerStep(definition: Definition, stepsPerRun: number, steps: number): number {
  const load = new RunLoad(definition);
  load.attach(SESSION, SLOTS);
  const runs = Math.max(1, Math.round(steps / stepsPerRun));
  const atOnce = Math.max(1, Math.round(STEPS_AT_ONCE / stepsPerRun));
  const leases: string[] = [];
  let started = 0;
  let ended = 0;
  const take = (): void => {
    leases.push(...load.granted());
    ended += load.ended;
  };
  const seconds = secondsOf(() => {
    while (ended < runs) {
      const more = Math.min(runs, ended + atOnce) - started;
      if (more > 0) {
        load.start(more);
        started += more;
        take();
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
  return (seconds * 1e6) / (runs * stepsPerRun);
}
