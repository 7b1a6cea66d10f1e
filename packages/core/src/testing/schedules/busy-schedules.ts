import type { EndBackfill, StartBackfill } from '../../commands/schedules/backfill-schedules.ts';
import type { TestPartition } from '../test-partition.ts';
import { TestSchedules } from './test-schedules.ts';

/** Puts the partition through every type of event about schedules. */
export function busySchedules(partition: TestPartition): void {
  const schedules = new TestSchedules(partition);
  const spec = { everyMs: 1000, mode: 'fixedRate' } as const;
  schedules.put('rate', { spec, input: '{"n":"{{fireNumber}}"}' });
  schedules.put('gone', { spec, paused: true });
  schedules.put('many', { spec: { permanent: true, replicas: 1000 } });
  partition.now += 1000;
  partition.advance();
  schedules.pause('rate');
  schedules.remove('gone');
  const range = { from: partition.now - 5000, to: partition.now, ratePerSec: 1 };
  partition.operate<StartBackfill>({ type: 'start_backfill', name: 'rate', ...range });
  partition.operate<EndBackfill>({ type: 'end_backfill', name: 'rate' });
  schedules.put('late', { spec, misfire: 'skip' });
  partition.now += 30_000;
  partition.advance();
}
