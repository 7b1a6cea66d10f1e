import { expect, test } from 'vitest';
import { Simulation } from '../kernel/simulation.ts';
import type { WatchedPartition } from '../server/watched-partition.ts';
import { Durability } from './durability.ts';

const PARTITION = undefined as unknown as WatchedPartition;
const BYTES = Uint8Array.of(1, 2, 3);
const BATCH = { epoch: 1, expectedTail: 0, nonce: 1, recordCount: 2, bytes: BYTES };

function begun(
  simulation = new Simulation({ seed: 1 }),
  snapshots: readonly number[] = [],
): Durability {
  const durability = new Durability(simulation, () => snapshots);
  durability.booted(PARTITION, { epoch: 1, first: 0, tail: 0 });
  durability.committed(BATCH);
  return durability;
}

test('what is durable may be let out, comes back and may be trimmed', () => {
  const durability = begun(undefined, [2, 0, 1]);
  durability.noticed({ type: 'snapshot_saved', position: 2 });
  durability.letOut(2, 'an answer');
  durability.trimming({ epoch: 1, upTo: 1 });
  durability.read({ firstRecord: 0, recordCount: 2, epoch: 1, bytes: BYTES });
  durability.booted(PARTITION, { epoch: 2, first: 0, tail: 3 });
  durability.committed({ ...BATCH, epoch: 2, expectedTail: 3 });
});

test('an answer that is let out before it is durable is noticed', () => {
  expect(() => begun().letOut(3, 'an answer')).toThrow(/^I29/);
});

test('a log that comes back shorter, or with other bytes, is noticed', () => {
  const hold = { epoch: 2, first: 0, tail: 1 };
  expect(() => begun().booted(PARTITION, hold)).toThrow(/^I29/);
  const other = { firstRecord: 0, recordCount: 2, epoch: 1, bytes: Uint8Array.of(1, 2, 4) };
  expect(() => begun().read(other)).toThrow(/^I29/);
});

test('a gap between records, and an epoch that does not grow, are noticed', () => {
  expect(() => begun().committed({ ...BATCH, expectedTail: 3 })).toThrow(/^I28/);
  expect(() => begun().committed({ ...BATCH, expectedTail: 2, epoch: 2 })).toThrow(/^I28/);
  expect(() => begun().booted(PARTITION, { epoch: 1, first: 0, tail: 2 })).toThrow(/^I28/);
});

test('a trim without two snapshots, or past the older of them, is noticed', () => {
  const trim = (snapshots: readonly number[], upTo: number) => {
    begun(undefined, snapshots).trimming({ epoch: 1, upTo });
  };
  expect(() => trim([1], 1)).toThrow(/^I33/);
  expect(() => trim([1, 2], 2)).toThrow(/^I33/);
});

test('a snapshot of what is not durable is noticed', () => {
  expect(() => begun().noticed({ type: 'snapshot_saved', position: 3 })).toThrow(/^I29/);
});

test('what a server lets out that lost its log is noticed, until another one has it', async () => {
  const simulation = new Simulation({ seed: 1 });
  const durability = begun(simulation);
  durability.answered('fenced');
  durability.letOut(2, 'what was released before');
  simulation.after(1, () => undefined);
  await simulation.runUntil(2);
  expect(() => durability.letOut(2, 'an answer')).toThrow(/^I30/);
  durability.booted(PARTITION, { epoch: 2, first: 0, tail: 2 });
  durability.letOut(2, 'an answer');
});
