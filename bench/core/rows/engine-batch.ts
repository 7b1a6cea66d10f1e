import { join } from 'node:path';
import type { Figure, Row } from '../../row.ts';
import { EngineLoad } from '../engine-load.ts';
import { submitRequest } from '../requests.ts';

/** Tasks per submit, and the total number of tasks. */
const SIZES = [
  { batch: 1, tasks: 50_000 },
  { batch: 16, tasks: 500_000 },
  { batch: 256, tasks: 3_000_000 },
];
/** One command is written while the next is decided. */
const IN_FLIGHT = 2;
/**
 * As many clients as a busy server has. Commands that gather during a commit share the next one.
 */
const MANY_IN_FLIGHT = 8;

/**
 * The engine on a real file, with every commit on disk. `submit` measures from the command until it
 * is durable, `whole life` until the report of success is durable.
 */
export const row: Row = {
  measure: async ({ folder, share }) => {
    const figures: Figure[] = [];
    for (const { batch, tasks } of SIZES) {
      const size = { batch, commands: Math.ceil((tasks * share) / batch) };
      figures.push(...(await submits(join(folder, `submit-${batch}`), size)));
      figures.push(await wholeLives(join(folder, `life-${batch}`), size));
      figures.push(await crowd(join(folder, `crowd-${batch}`), size));
    }
    return figures;
  },
};

interface Size {
  readonly batch: number;
  readonly commands: number;
}

async function submits(folder: string, { batch, commands }: Size): Promise<Figure[]> {
  const load = await EngineLoad.start(folder);
  const latenciesMs: number[] = [];
  const startedAt = performance.now();
  await submitAll(load, { batch, commands }, (ms) => latenciesMs.push(ms));
  const seconds = (performance.now() - startedAt) / 1000;
  await load.close();
  latenciesMs.sort((a, b) => a - b);
  const name = `submits of ${batch}`;
  const percentile = (share: number): number =>
    latenciesMs[Math.floor((latenciesMs.length - 1) * share)];
  return [
    rate(name, { tasks: batch * commands, seconds, isTarget: batch === 256 }),
    { what: `${name}: commit, p50`, unit: 'ms', value: percentile(0.5) },
    { what: `${name}: commit, p99`, unit: 'ms', value: percentile(0.99) },
  ];
}

async function crowd(folder: string, { batch, commands }: Size): Promise<Figure> {
  const load = await EngineLoad.start(folder);
  const startedAt = performance.now();
  await submitAll(load, { batch, commands, inFlight: MANY_IN_FLIGHT }, () => undefined);
  const seconds = (performance.now() - startedAt) / 1000;
  await load.close();
  const given = { tasks: batch * commands, seconds, isTarget: batch === 256 };
  return rate(`submits of ${batch}: ${MANY_IN_FLIGHT} in flight`, given);
}

async function wholeLives(folder: string, { batch, commands }: Size): Promise<Figure> {
  const load = await EngineLoad.start(folder);
  const tasks = batch * commands;
  await load.attach('s', 100_000);
  let finished = 0;
  const all = Promise.withResolvers<void>();
  load.onPushed = (leases) => {
    void load.complete('s', leases).then(() => {
      finished += leases.length;
      if (finished === tasks) all.resolve();
    });
  };
  const startedAt = performance.now();
  await submitAll(load, { batch, commands }, () => undefined);
  await all.promise;
  const seconds = (performance.now() - startedAt) / 1000;
  await load.close();
  return rate(`submits of ${batch}: whole life`, { tasks, seconds, isTarget: false });
}

/** Keeps `inFlight` commands outstanding until all have been sent and answered. */
async function submitAll(
  load: EngineLoad,
  { batch, commands, inFlight = IN_FLIGHT }: Size & { readonly inFlight?: number },
  onCommit: (ms: number) => void,
): Promise<void> {
  const request = submitRequest(batch);
  let sent = 0;
  const sendOn = async (): Promise<void> => {
    while (sent < commands) {
      sent += 1;
      const sentAt = performance.now();
      await load.submit(request);
      onCommit(performance.now() - sentAt);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, sendOn));
}

function rate(
  name: string,
  given: { readonly tasks: number; readonly seconds: number; readonly isTarget: boolean },
): Figure {
  const figure = { what: name, unit: 'tasks/s', value: given.tasks / given.seconds };
  return given.isTarget ? { ...figure, target: '≥ 300,000' } : figure;
}
