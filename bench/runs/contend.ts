/** Measures one contender in a process that nothing else uses: `contend.ts NAME RUNS FULL_RUNS`. */

import { SHAPES, type Shape } from './contender.ts';
import { CONTENDERS } from './contenders.ts';

/** Runs under way at once. */
const AT_ONCE = 64;
/** Of the full number: code is as cold in front of few runs as in front of many. */
const WARM_UP = 0.2;

const [, , name, runs, fullRuns] = process.argv;
const contender = await CONTENDERS[name]();
const open = await contender.open();
try {
  for (const shape of SHAPES) {
    const share = 1 / Math.sqrt(shape.steps);
    const count = Math.ceil(Number(runs) * share);
    await many(shape, Math.ceil(Number(fullRuns) * share * WARM_UP));
    const startedAt = performance.now();
    await many(shape, count);
    const perSecond = (count * 1000) / (performance.now() - startedAt);
    console.log(JSON.stringify({ shape: shape.name, perSecond }));
  }
} finally {
  await open.close();
}
process.exit(0);

async function many(shape: Shape, count: number): Promise<void> {
  let left = count;
  const lane = async (): Promise<void> => {
    while (left-- > 0) await open.run(shape);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}
