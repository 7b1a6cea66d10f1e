import { expect, test } from 'vitest';
import { defineTask } from '../task/define-task.ts';
import { defineWorkflow } from '../workflow/define-workflow.ts';
import { TestSluice } from './test-sluice.ts';

const DAY_MS = 86_400_000;

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

function setUp() {
  const days: string[] = [];
  const report = defineTask({
    type: 'report',
    run: ({ day }: { day: string; n?: string }) => void days.push(day),
  });
  return { days, report, sluice: new TestSluice([report]) };
}

test('a year of cron runs at once, across changes of the clocks', async () => {
  const { days, report, sluice } = setUp();
  const spec = { cron: '30 2 * * *', timeZone: 'Europe/Berlin' };

  const { change, nextFires } = await sluice.schedules.put('nightly', spec, report, {
    day: '{{scheduledAt}}',
  });
  await sluice.advance(365 * DAY_MS);

  expect([change, nextFires.length]).toEqual(['created', 5]);
  expect(days).toHaveLength(365);
  expect(days[0]).toBe('2030-01-01T01:30:00.000Z');
  expect(days).toContain('2030-03-31T01:00:00.000Z');
  expect(days.filter((day) => day.startsWith('2030-10-27'))).toEqual(['2030-10-27T00:30:00.000Z']);
});

test('a schedule is read, changed, paused, fired and deleted', async () => {
  const { days, report, sluice } = setUp();
  const { schedules } = sluice;
  await schedules.put('rate', { everyMs: 60_000 }, report, { day: 'x' }, { tags: { team: 'a' } });
  await sluice.advance(180_000);
  expect(days).toHaveLength(3);

  await schedules.pause('rate');
  await sluice.advance(180_000);
  expect(await schedules.explain('rate')).toMatchObject({ state: 'paused' });
  await schedules.resume('rate');
  await schedules.patch('rate', { spec: { everyMs: 30_000 } });
  await sluice.advance(60_000);
  expect(days).toHaveLength(5);

  const fired = await schedules.trigger('rate');
  await sluice.tasks.get(fired.taskId as string);
  expect(await schedules.preview('rate', 2)).toHaveLength(2);
  expect((await all(schedules.fires('rate'))).length).toBe(6);
  expect(await all(schedules.list({ tags: { team: 'a' } }))).toMatchObject([
    { id: 'rate', fireCount: 6, task: { type: 'report' } },
  ]);

  await schedules.delete('rate');
  await expect(schedules.get('rate')).rejects.toMatchObject({ code: 'schedule_not_found' });
});

test('a workflow is started by its schedule', async () => {
  const { days, report, sluice } = setUp();
  const flow = defineWorkflow('flow', { version: 1, input: {} as never }, (w) =>
    w.step('one', report, { day: 'from the run' }),
  );
  await sluice.workflows.put(flow);
  await sluice.schedules.put('flow', { at: '2030-01-02T00:00:00Z' }, flow, undefined as never);

  await sluice.advance(2 * DAY_MS);

  expect(days).toEqual(['from the run']);
  const [{ runId, status }] = await all(sluice.schedules.fires('flow'));
  expect([runId?.slice(0, 2), status]).toEqual(['r_', 'succeeded']);
});

test('what a server refuses is refused', async () => {
  const { report, sluice } = setUp();
  const put = (spec: never) => sluice.schedules.put('bad', spec, report, { day: '' });
  await expect(put({ cron: '61 * * * *' } as never)).rejects.toThrow("'61' in the minute");
  await expect(put({ cron: '@daily', timeZone: 'Mars' } as never)).rejects.toThrow('time zone');
  await expect(put({ everyMs: 20 } as never)).rejects.toThrow('allowFast');
  await expect(put({ every: 20 } as never)).rejects.toThrow('/spec');
  await expect(sluice.schedules.trigger('nobody')).rejects.toMatchObject({
    code: 'schedule_not_found',
  });
});

test('a dry run and a backfill', async () => {
  const { days, report, sluice } = setUp();
  const spec = { cron: '@daily' };
  const dry = await sluice.schedules.put('d', spec, report, { day: '1' }, { dryRun: true });
  expect(dry).toMatchObject({ dryRun: true, change: 'created' });
  await expect(sluice.schedules.get('d')).rejects.toThrow();

  await sluice.schedules.put('d', spec, report, { day: '{{scheduledAt}}' });
  const range = { from: '2029-12-01T00:00:00Z', to: '2029-12-03T00:00:00Z', ratePerSec: 1 };
  expect(await sluice.schedules.backfill('d', range)).toMatchObject({ count: 3 });
  await sluice.advance(5000);

  expect(days.map((day) => day.slice(0, 10))).toEqual(['2029-12-01', '2029-12-02', '2029-12-03']);
});

test('many changes at once: each is made or refused', async () => {
  const { sluice } = setUp();
  const results = await sluice.schedules.changeMany([
    { op: 'put', id: 'a', spec: { everyMs: 5000 }, task: { type: 'report' } },
    { op: 'put', id: 'b', spec: { everyMs: 1 }, task: { type: 'report' } },
    { op: 'patch', id: 'a', jitterMs: 100 },
    { op: 'patch', id: 'nobody', jitterMs: 100 },
    { op: 'delete', id: 'a' },
    { op: 'delete', id: 'a' },
  ]);

  expect(results).toMatchObject([
    { id: 'a', ok: true, change: 'created' },
    { id: 'b', error: { code: 'invalid_request' } },
    { id: 'a', ok: true, change: 'replaced' },
    { id: 'nobody', error: { code: 'schedule_not_found' } },
    { id: 'a', ok: true, change: 'deleted' },
    { id: 'a', error: { code: 'schedule_not_found' } },
  ]);
  await expect(
    sluice.schedules.changeMany([{ op: 'purge', id: 'a' } as never]),
  ).rejects.toMatchObject({ code: 'invalid_request', details: [{ path: '/0/op' }] });
});
