import { DEFAULT_NAMESPACE, MATCHING_DEFAULTS, type SessionId } from '@sluice/core';
import { expect, test } from 'vitest';
import type { WatchedPartition } from '../server/watched-partition.ts';
import { ModelLockstep } from './model-lockstep.ts';
import { ToldPartition } from './testing/told-partition.ts';

const HOLD = { epoch: 1, first: 0, tail: 0 };

function begun(): { told: ToldPartition; lockstep: ModelLockstep } {
  const told = new ToldPartition();
  const { story, limits, partition } = told;
  const knobs = { limits, matching: MATCHING_DEFAULTS, graceMsMin: 5000 };
  const lockstep = new ModelLockstep(story, knobs);
  story.rules.push(lockstep);
  told.listeners.unshift(lockstep);
  lockstep.booted(partition);
  return { told, lockstep };
}

test('a partition that does what the model says passes, command by command and at the end', () => {
  const { told, lockstep } = begun();
  told.attach();
  told.submit('{"n":1}');
  told.submit('{"n":2}');
  told.commit();

  expect(() => lockstep.ended()).not.toThrow();
});

test('an answer that the model would not give is noticed once it is durable', () => {
  const { told, lockstep } = begun();
  const detach = {
    type: 'detach_session',
    now: 1000,
    namespace: DEFAULT_NAMESPACE,
    session: 's_1' as SessionId,
  } as const;
  lockstep.executed(detach, { found: true }, told.partition);
  expect(() => told.story.executed(detach, { found: true }, told.partition)).toThrow(/^I11/);
});

test('a push that the model misses, and a state that is another, are noticed', () => {
  const { told, lockstep } = begun();
  told.partition.grantsLeases = false;
  told.attach();
  told.submit();
  told.commit();
  told.partition.grantsLeases = true;
  const tick = { type: 'renew_sessions', now: 2000 } as const;
  lockstep.executed(tick, undefined, told.partition);
  expect(() => told.story.executed(tick, undefined, told.partition)).toThrow(
    /matching\.no-idle-fit/,
  );
  expect(() => lockstep.booted(new ToldPartition().partition)).toThrow(/^I11/);
});

test('what a crash took back never happened', () => {
  const { told, lockstep } = begun();
  told.submit();
  const recovered: WatchedPartition = new ToldPartition().partition;
  told.story.stopped();
  told.story.booted(recovered, HOLD);

  expect(() => lockstep.ended()).not.toThrow();
});
