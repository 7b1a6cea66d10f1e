import { expect, test } from 'vitest';
import { IdleRoom } from './idle-room.ts';
import { ToldPartition } from './testing/told-partition.ts';

/** A partition with one worker that offers four slots, and the checker that watches it. */
function begun() {
  const told = new ToldPartition();
  const idleRoom = new IdleRoom(told.story.simulation);
  told.listeners.push(idleRoom);
  idleRoom.booted(told.partition);
  told.attach();
  return told;
}

/** Executes enough commands for the checker to look. */
function pass(told: ToldPartition): void {
  for (let i = 0; i < 50; i++) told.do({ type: 'renew_sessions', now: 1000 });
}

test('tasks wait while every slot is taken', () => {
  const told = begun();
  for (let i = 0; i < 6; i++) told.submit();

  expect(() => pass(told)).not.toThrow();
});

test('a task that waits beside a worker with room is noticed', () => {
  const told = begun();
  for (let i = 0; i < 6; i++) told.submit();
  const { tasks } = told.partition.state;
  const [leased] = told.partition.state.holders.holding();
  expect(leased.held.length).toBe(4);
  // Simulates a server that forgot that two tasks went back to their queue.
  (tasks.state as Uint8Array).fill(tasks.state[5], 0, 2);
  const sessions = { forEachHeld: () => undefined };
  Object.assign(told.partition.state.holders, sessions);
  expect(() => pass(told)).toThrow(/^I14/);
});

test('while no lease is granted nobody is to blame', () => {
  const told = begun();
  told.partition.grantsLeases = false;
  told.submit();

  expect(() => pass(told)).not.toThrow();
});
