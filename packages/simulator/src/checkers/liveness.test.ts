import { DEFAULT_NAMESPACE } from '@sluice/core';
import { expect, test } from 'vitest';
import { Liveness } from './liveness.ts';
import { ToldPartition } from './testing/told-partition.ts';

const BOUND_MS = 60_000;

function begun(): { told: ToldPartition; liveness: Liveness } {
  const told = new ToldPartition();
  const liveness = new Liveness(told.story.simulation);
  liveness.booted(told.partition);
  return { told, liveness };
}

test('a server without tasks, or with paused ones, passes', () => {
  const { told, liveness } = begun();
  liveness.look(BOUND_MS);
  told.submit();
  told.commit();
  const [id] = told.story.byId.keys();
  told.do({ type: 'pause_task', now: 2000, namespace: DEFAULT_NAMESPACE, id });

  expect(() => liveness.look(BOUND_MS)).not.toThrow();
});

test('a task that has not ended is noticed, queued or leased', () => {
  const { told, liveness } = begun();
  told.submit();
  expect(() => liveness.look(BOUND_MS)).toThrow(/^liveness: 1 tasks .* queued \(submitted\)/);
  told.attach();
  expect(() => liveness.look(BOUND_MS)).toThrow(/leased \(leased\)/);
});

test('a server that is not there is noticed', () => {
  const { liveness } = begun();
  liveness.stopped();
  expect(() => liveness.look(BOUND_MS)).toThrow(/^liveness/);
});
