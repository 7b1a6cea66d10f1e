import { describe, expect, test } from 'vitest';
import { WorkerUnderTest } from '../testing/worker-under-test.ts';

describe('reports of one turn', () => {
  test('short tasks that end in one turn are reported together', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1', 'l_2', 'l_3');
    worker.isOneTurn = true;
    worker.time.advance(4);

    for (const lease of ['l_1', 'l_2', 'l_3']) worker.succeed(lease);
    expect(worker.requests).toEqual([]);
    worker.time.advance(0);

    expect(worker.requests.map(leasesIn)).toEqual([['l_1', 'l_2', 'l_3']]);
  });

  test('the first of long tasks that end together is reported at once, others in halves', () => {
    const leases = ['l_1', 'l_2', 'l_3', 'l_4', 'l_5', 'l_6'];
    const worker = WorkerUnderTest.welcomed({}, ...leases);
    worker.isOneTurn = true;
    worker.time.advance(5);

    worker.succeed('l_1');
    expect(worker.requests.map(leasesIn)).toEqual([['l_1']]);
    for (const lease of leases.slice(1)) worker.succeed(lease);
    worker.time.advance(0);
    const halves = [['l_1'], ['l_2', 'l_3', 'l_4']];
    expect(worker.requests.map(leasesIn)).toEqual(halves);
    worker.requests[0].answer({ outcomes: ['ok'] });

    expect(worker.requests.map(leasesIn)).toEqual([...halves, ['l_5', 'l_6']]);
  });

  test('a large group is not split', () => {
    const leases = Array.from({ length: 34 }, (_, n) => `l_${n}`);
    const worker = WorkerUnderTest.welcomed({}, ...leases);
    worker.isOneTurn = true;
    worker.time.advance(5);

    for (const lease of leases) worker.succeed(lease);
    worker.time.advance(0);

    expect(worker.requests.map((request) => leasesIn(request).length)).toEqual([1, 33]);
  });
});

function leasesIn({ body }: { readonly body: { reports: { lease: string }[] } }): string[] {
  return body.reports.map(({ lease }) => lease);
}
