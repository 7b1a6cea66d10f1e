import { expect, test } from 'vitest';
import { describeState } from './testing/describe-state.ts';
import { TestPartition } from './testing/test-partition.ts';

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

test('after a restart any number is taken, and lower ones are refused again', () => {
  const { partition, session } = holding(1);
  const leases = partition.leasesOf(session);
  partition.attach({ resume: { session, running: leases, number: 9 } });
  partition.restart(10_000);

  const first = partition.attach({ resume: { session, running: leases, number: 5 } });
  const overtaken = partition.attach({ resume: { session, running: leases, number: 4 } });

  expect(first.resumed).toBe(true);
  expect(overtaken.rejection).toBe('resume_outdated');
});
