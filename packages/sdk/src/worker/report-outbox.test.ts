import { expect, test } from 'vitest';
import { finalReport } from './final-reports.ts';
import { ReportOutbox, type SentReport } from './report-outbox.ts';

function succeeded(lease: string, output: unknown = null) {
  return finalReport(lease, { kind: 'succeeded', output: JSON.stringify(output) }, 0);
}

function said(batch: readonly SentReport[]): string[] {
  return batch.map(({ lease, kind }) => `${lease} ${kind}`);
}

test('nothing follows a final report, not even another one (reports.final-last)', () => {
  const outbox = new ReportOutbox();
  outbox.finish(succeeded('l_1', 1));

  outbox.progress('l_1', '{}');
  outbox.started('l_1');
  outbox.heartbeat('l_1');
  outbox.finish(succeeded('l_1', 2));

  expect(outbox.take()).toMatchObject([{ text: succeeded('l_1', 1).text }]);
  expect(outbox.take()).toEqual([]);
});

test('a report that travels by itself neither joins others nor waits for them', () => {
  const outbox = new ReportOutbox();
  for (const lease of ['l_1', 'l_2']) outbox.finish(succeeded(lease));
  const batch = outbox.take();
  outbox.finish(succeeded('l_3'));
  outbox.isolate(batch);
  outbox.finish(succeeded('l_4'));

  const batches = Array.from({ length: 4 }, () => said(outbox.take()));

  expect(batches).toEqual([
    ['l_3 succeeded', 'l_4 succeeded'],
    ['l_1 succeeded'],
    ['l_2 succeeded'],
    [],
  ]);
});

test('what is said of one lease in one request is in the order in which it happened', () => {
  const outbox = new ReportOutbox();

  outbox.progress('l_1', '{}');
  outbox.started('l_1');

  expect(said(outbox.take())).toEqual(['l_1 started', 'l_1 progress']);
});

test('of a lease that was dropped while it was in flight nothing comes back', () => {
  const outbox = new ReportOutbox();
  outbox.progress('l_1', '{}');
  const batch = outbox.take();

  outbox.drop('l_1');
  outbox.unanswered(batch);

  expect(outbox.take()).toEqual([]);
  expect(outbox.isEmpty).toBe(true);
});
