import { expect, test } from 'vitest';
import { describeState } from '../../testing/describe-state.ts';
import { TestPartition } from '../../testing/test-partition.ts';

function holding(count: number) {
  const partition = new TestPartition();
  const { session } = partition.attach({ slots: count });
  partition.submit(...Array.from({ length: count }, () => ({})));
  return { partition, session };
}

test('a resume that was overtaken by a later one is refused and changes nothing', () => {
  const { partition, session } = holding(2);
  const leases = partition.leasesOf(session);
  const resume = (number: number | undefined, running: readonly string[]) => {
    const numbered = number === undefined ? {} : { number };
    return partition.attach({ slots: 5, resume: { session, running, ...numbered } });
  };
  const later = resume(2, leases);
  const before = describeState(partition.state);

  const overtaken = resume(1, []);
  const twice = resume(2, []);

  expect(later).toMatchObject({ resumed: true, lost: [] });
  expect(overtaken).toMatchObject({ rejection: 'resume_outdated', session: '' });
  expect(twice.rejection).toBe('resume_outdated');
  expect(describeState(partition.state)).toEqual(before);
  expect(resume(3, leases.slice(1)).rejection).toBeUndefined();
  expect(resume(undefined, []).rejection).toBeUndefined();
});

test('a restart remembers under which resume a session was given its newest lease', () => {
  const { partition, session } = holding(1);
  const leases = partition.leasesOf(session);
  const resume = (number: number) => {
    return partition.attach({ slots: 2, resume: { session, running: leases, number } });
  };
  resume(9);
  partition.submit({});
  partition.restart(10_000);

  const overtaken = resume(9);
  const current = resume(10);

  expect(overtaken.rejection).toBe('resume_outdated');
  expect(current.resumed).toBe(true);
});

test('it is remembered over a snapshot, too', () => {
  const { partition, session } = holding(1);
  partition.attach({
    slots: 2,
    resume: { session, running: partition.leasesOf(session), number: 9 },
  });
  partition.submit({});
  partition.snapshot();
  partition.restart(10_000, { fromSnapshot: true });

  const overtaken = partition.attach({ resume: { session, running: [], number: 8 } });

  expect(overtaken.rejection).toBe('resume_outdated');
  expect(partition.heldBy(session)).toEqual([1, 2]);
});
