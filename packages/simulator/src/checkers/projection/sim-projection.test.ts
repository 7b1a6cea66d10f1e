import type { CommittedFeed } from '@sluice/engine';
import { expect, test } from 'vitest';
import { Situations } from '../../base/situations.ts';
import { SimProcess } from '../../kernel/sim-process.ts';
import { ToldPartition } from '../testing/told-partition.ts';
import { SimProjection } from './sim-projection.ts';

/** A partition with a projection that follows it. */
function followed() {
  const told = new ToldPartition();
  const { story } = told;
  const { simulation } = story;
  const situations = new Situations();
  const projection = new SimProjection({ simulation, situations, story });
  story.rules.push(projection);
  const process = new SimProcess(simulation, 'server');
  const acknowledged: number[] = [];
  let wake: (batch: unknown) => void = () => undefined;
  const feed = {
    next: () =>
      new Promise((resolve) => {
        wake = resolve;
      }),
    acknowledge: ({ position }: { position: number }) => acknowledged.push(position),
  } as unknown as CommittedFeed;
  projection.follow(feed, process);
  /** Hands out a batch, and waits until the projection asks for the next one. */
  const hand = async (batch: object) => {
    simulation.after(0, () => wake(batch));
    await simulation.runUntil(simulation.now + 200_000);
  };
  return { told, projection, acknowledged, hand, situations };
}

test('a projection that is handed the log becomes what the log tells', async () => {
  const { told, projection, acknowledged, hand, situations } = followed();
  for (let i = 0; i < 300 && acknowledged.length === 0; i++) {
    told.submit();
    await hand(told.commit());
  }
  expect(acknowledged.length).toBeGreaterThan(0);
  expect(projection.feedOptions.from).toBe(acknowledged.at(-1));
  expect(situations.counts.get('the projection had caught up')).toBeGreaterThan(0);
  projection.trimming({ epoch: 1, upTo: acknowledged.at(-1) ?? 0 });
});

test('a record that is not durable, and a gap, are noticed', async () => {
  const early = followed();
  early.told.submit();
  await expect(early.hand({ ...early.told.batch, firstRecord: 0 })).rejects.toThrow(/^I36/);
  const gap = followed();
  gap.told.submit();
  await expect(gap.hand({ ...gap.told.commit(), firstRecord: 1 })).rejects.toThrow(/^I36/);
});

test('a row that is not what the log tells is noticed', async () => {
  const { told, hand } = followed();
  told.submit();
  const batch = told.commit();
  const [task] = told.story.tasks.values();
  task.phase = 'cancelled';
  await expect(hand(batch)).rejects.toThrow(/^I36/);
});

test('a trim past its watermark, and a task that is forgotten too early, are noticed', () => {
  const { told, projection } = followed();
  expect(() => projection.trimming({ epoch: 1, upTo: 1 })).toThrow(/^I33/);
  told.submit();
  told.commit();
  const [task] = told.story.tasks.values();
  const forgotten = { type: 'task_forgotten', slot: 0, task: task.number } as never;
  expect(() => projection.event(forgotten, task)).toThrow(/^I33/);
});
