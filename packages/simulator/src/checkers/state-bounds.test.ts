import { expect, test } from 'vitest';
import { StateBounds } from './state-bounds.ts';
import { ToldPartition } from './testing/told-partition.ts';

const COMMAND = { type: 'advance_time', now: 0, seed: 0 } as const;

function begun(limits: object = {}) {
  const told = new ToldPartition();
  const { simulation } = told.story;
  const bounds = new StateBounds(simulation, { ...told.limits, ...limits }, false);
  told.attach();
  told.submit();
  told.submit();
  return { told, bounds };
}

type Columns = Record<string, Float64Array | Uint8Array | Int32Array>;

/** Corrupts something in memory. */
function broken(change: (columns: Columns, told: ToldPartition) => void): () => void {
  const { told, bounds } = begun();
  change(told.partition.state.tasks as unknown as Columns, told);
  return () => bounds.booted(told.partition);
}

test('a state that is whole passes', () => {
  const { told, bounds } = begun();
  bounds.booted(told.partition);

  expect(() => {
    for (let i = 0; i < 300; i++) bounds.executed(COMMAND, undefined, told.partition);
  }).not.toThrow();
});

test('a bitmap that disagrees with its lists is noticed', () => {
  const wrong = broken((_, { partition }) => {
    Object.assign(partition.state.queues[0], { levels: 0b1 });
  });
  expect(wrong).toThrow(/^I13/);
});

test('a task that stands in no list is noticed', () => {
  expect(broken(({ state }) => state.fill(2, 0, 1))).toThrow(/^I1/);
});

test('bytes that belong to nobody are noticed', () => {
  expect(broken(({ inputLength }) => inputLength.fill(1, 0, 1))).toThrow(/^I37/);
});

test('a timer that is not where the deadline is is noticed', () => {
  const { told, bounds } = begun();
  const { timers } = told.partition.state;
  const has = timers.has.bind(timers);
  Object.assign(timers, { has: () => true });
  expect(() => bounds.booted(told.partition)).toThrow(/^I38/);
  Object.assign(timers, { has });
  bounds.booted(told.partition);
});

test('more than a bound allows is noticed', () => {
  const over = (limits: object) => () => {
    const { told, bounds } = begun(limits);
    bounds.executed(COMMAND, undefined, told.partition);
  };
  expect(over({ tasksMax: 1 })).toThrow(/^I40: 2 tasks/);
  expect(over({ finishedTasksMax: -1 })).toThrow(/^I40.*finished/);
  expect(over({ deadLettersMax: -1 })).toThrow(/^I40.*dead letters/);
  const { bounds } = begun();
  const bytes = { length: 2 ** 30 } as Uint8Array;
  const batch = { epoch: 1, expectedTail: 0, nonce: 1, recordCount: 1, bytes };
  expect(() => bounds.committed(batch)).toThrow(/^I40/);
});
