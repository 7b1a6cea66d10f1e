import { TestPartition } from '@sluice/core/testing/test-partition';
import { expect, test } from 'vitest';
import { Exposition } from './exposition.ts';
import { TypeMetrics } from './type-metrics.ts';
import { TYPES_SHOWN } from './type-rows.ts';

/** A partition whose outputs are counted after each command. */
class Measured {
  readonly partition: TestPartition;
  readonly metrics = new TypeMetrics();

  constructor(tasksMax = 1000, finishedTasksMax = 50) {
    const limits = { tasksMax, finishedTasksMax, payloadBytesMax: 10_000_000 };
    this.partition = new TestPartition(limits, {
      watch: () => this.metrics.staged(this.partition.outputs, this.partition.state),
    });
  }

  /** Runs one task of the type, and leaves no worker behind. */
  run(type: string, kind: 'succeeded' | 'failed' = 'succeeded'): void {
    const { partition } = this;
    const { session } = partition.attach({ types: [type] });
    partition.submit({ type, retry: { maxAttempts: 1 } });
    const [lease] = partition.leasesOf(session);
    partition.now += 40;
    partition.report(session, { lease, kind });
    partition.detach(session);
  }

  queue(type: string, tasks: number): void {
    for (let i = 0; i < tasks; i++) this.partition.submit({ type });
  }

  /** Values of a name by type, or by type and outcome without the zeros. */
  values(name: string): Record<string, number> {
    const out = new Exposition();
    this.metrics.write(out, this.partition.state, this.partition.now);
    const samples = out.toString().matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm);
    return Object.fromEntries(
      Array.from(samples, ([, sample, labels = '', value]) => ({ sample, labels, value }))
        .filter(({ sample, labels, value }) => {
          return sample === name && !(labels.includes('outcome') && value === '0');
        })
        .map(({ labels, value }) => {
          const texts = Array.from(labels.matchAll(/"([^"]*)"/g), ([, text]) => text);
          return [texts.join(' '), Number(value)];
        }),
    );
  }
}

test('each type has its own depth, age, running tasks and dead letters', () => {
  const measured = new Measured();
  const { partition } = measured;
  partition.attach({ types: ['mail'] });
  measured.queue('mail', 3);
  measured.run('charge', 'failed');
  partition.now += 2000;

  expect(measured.values('sluice_type_queued')).toEqual({ 'default mail': 2, 'default charge': 0 });
  expect(measured.values('sluice_type_running')).toMatchObject({ 'default mail': 1 });
  expect(measured.values('sluice_type_dead_letters')).toMatchObject({ 'default charge': 1 });
  expect(measured.values('sluice_type_oldest_seconds')).toEqual({
    'default mail': 2.04,
    'default charge': 0,
  });
});

test('attempts are counted by outcome, and their waits and durations are observed', () => {
  const measured = new Measured();
  measured.run('mail');
  measured.run('mail', 'failed');
  measured.queue('mail', 1);
  const { session } = measured.partition.attach({ types: ['mail'] });
  measured.partition.detach(session);

  expect(measured.values('sluice_type_attempts_total')).toEqual({
    'default mail succeeded': 1,
    'default mail failed': 1,
    'default mail returned': 1,
  });
  expect(measured.values('sluice_type_wait_seconds_count')).toEqual({ 'default mail': 3 });
  expect(measured.values('sluice_type_duration_seconds_count')).toEqual({ 'default mail': 2 });
  expect(measured.values('sluice_leases_lost_total')).toEqual({ '': 0 });
});

test('a lease whose worker is gone is lost', () => {
  const measured = new Measured();
  measured.partition.attach({ types: ['mail'] });
  measured.queue('mail', 1);
  measured.partition.now += 60_000;

  measured.partition.expire();

  expect(measured.values('sluice_leases_lost_total')).toEqual({ '': 1 });
  expect(measured.values('sluice_type_attempts_total')).toEqual({ 'default mail lost': 1 });
});

test('the same type in two namespaces is counted apart', () => {
  const measured = new Measured();
  measured.run('mail');
  measured.partition.namespace = 'team';
  measured.queue('mail', 2);

  expect(measured.values('sluice_type_queued')).toEqual({ 'default mail': 0, 'team mail': 2 });
});

test('only the busiest types have rows; the others are one row that stands apart', () => {
  const measured = new Measured();
  for (let i = 0; i < TYPES_SHOWN; i++) measured.queue(`type${i}`, 2);
  measured.queue('other', 1);
  measured.queue('late', 1);

  const depths = measured.values('sluice_type_queued');

  expect(Object.keys(depths)).toHaveLength(TYPES_SHOWN + 1);
  expect(depths).toMatchObject({ 'default type0': 2, other: 2 });
});

test('a type that becomes busy takes the row of one that is idle, and counts from zero', () => {
  const measured = new Measured();
  for (let i = 1; i < TYPES_SHOWN; i++) measured.queue(`type${i}`, 2);
  measured.values('sluice_type_queued');
  measured.run('idle');
  measured.run('late');
  const before = measured.values('sluice_type_attempts_total');
  measured.queue('late', 3);
  measured.values('sluice_type_queued');
  measured.partition.attach({ types: ['late'] });

  const after = measured.values('sluice_type_attempts_total');
  const waits = measured.values('sluice_type_wait_seconds_count');

  expect(before).toEqual({ 'default idle succeeded': 1, 'other succeeded': 1 });
  expect(after).toEqual({ 'other succeeded': 1 });
  expect(waits).toMatchObject({ 'default late': 1, other: 1 });
  expect(waits).not.toHaveProperty('default idle');
});

test('a type in the reused place of another one does not count for it', () => {
  const measured = new Measured(1000, 0);
  measured.run('gone');
  measured.run('next');
  measured.run('next');
  const places = measured.partition.state.queues.length;

  const counts = measured.values('sluice_type_attempts_total');
  measured.run('gone', 'failed');

  expect(places).toBeLessThan(3);
  expect(counts).toEqual({ 'default gone succeeded': 1, 'default next succeeded': 2 });
  expect(measured.values('sluice_type_attempts_total')).toMatchObject({
    'default gone succeeded': 1,
    'default gone failed': 1,
  });
});

test('types that come and go leave at most the rows that are shown', () => {
  const measured = new Measured(1000, 0);
  for (let i = 0; i < TYPES_SHOWN + 50; i++) measured.run(`type${i}`);
  measured.queue('new', 1);

  const depths = measured.values('sluice_type_queued');

  expect(Object.keys(depths)).toHaveLength(TYPES_SHOWN + 1);
  expect(depths).toMatchObject({ 'default new': 1, other: 0 });
});
