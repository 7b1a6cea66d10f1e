import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type AttemptRecord, readRecord } from './attempt-record.ts';
import { type LeftAttempt, ownerless, planRecovery } from './recovery.ts';

const recordOf = (name: string, lease = name): AttemptRecord => ({
  name,
  task: { id: 't_1', type: 'command', attempt: 1, lease, resources: { cpu: 1 } },
  gpus: [],
  startedAt: 1,
});

const leftAttempts = fc.uniqueArray(
  fc.record({
    name: fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd'), minLength: 1, maxLength: 3 }),
    lease: fc.constantFrom('l1', 'l2', 'l3', 'l4'),
    isReadable: fc.boolean(),
    started: fc.constantFrom('yes' as const, 'no' as const, 'unknown' as const),
  }),
  { selector: ({ name }) => name, maxLength: 8 },
);

test('everything that is left is adopted or cleaned up (recovery.no-orphans)', () => {
  fc.assert(
    fc.property(leftAttempts, fc.boolean(), (drawn, hasSession) => {
      const left = drawn.map(({ name, lease, isReadable, started }): LeftAttempt => {
        return { name, record: isReadable ? recordOf(name, lease) : undefined, started };
      });

      const { adopt, clean } = planRecovery(left, hasSession);

      const seen = [...adopt.map(({ name }) => name), ...clean].sort();
      expect(seen).toEqual(left.map(({ name }) => name).sort());
      // One attempt per lease (recovery.one-attempt-per-lease).
      const leases = adopt.map(({ task }) => task.lease);
      expect(new Set(leases).size).toBe(leases.length);
      if (!hasSession) expect(adopt).toEqual([]);
      // None that was not started (recovery.not-started-is-free).
      const names = new Set(adopt.map(({ name }) => name));
      for (const { name, record, started } of left) {
        if (started === 'no' || record === undefined) expect(names.has(name)).toBe(false);
      }
      // Of each lease that was started one is adopted (recovery.started-counts).
      for (const { record, started } of left) {
        if (!hasSession || record === undefined || started === 'no') continue;
        expect(leases).toContain(record.task.lease);
      }
    }),
  );
});

test('a record is read as it was written', () => {
  const record = recordOf('t_1-1-a');

  expect(readRecord('t_1-1-a', JSON.stringify(record))).toEqual(record);
});

test.each([
  '',
  '{"name":"a"',
  '[]',
  'null',
  '{"name":"b"}',
  JSON.stringify({ ...recordOf('a'), name: 'b' }),
  JSON.stringify({ ...recordOf('a'), gpus: '0' }),
  JSON.stringify({ ...recordOf('a'), task: { id: 't_1' } }),
  JSON.stringify({ ...recordOf('a'), task: { ...recordOf('a').task, lease: '' } }),
])('the record %s is not used', (text) => {
  expect(readRecord('a', text)).toBeUndefined();
});

test('what no attempt owns is found', () => {
  expect(ownerless(['a', 'b', 'c'], new Set(['b']))).toEqual(['a', 'c']);
});
