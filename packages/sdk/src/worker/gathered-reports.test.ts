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

  test('of long tasks that end in one turn the first is reported at once', () => {
    const worker = WorkerUnderTest.welcomed({}, 'l_1', 'l_2', 'l_3');
    worker.isOneTurn = true;
    worker.time.advance(5);

    worker.succeed('l_1');
    expect(worker.requests.map(leasesIn)).toEqual([['l_1']]);
    for (const lease of ['l_2', 'l_3']) worker.succeed(lease);
    worker.time.advance(0);

    expect(worker.requests.map(leasesIn)).toEqual([['l_1'], ['l_2', 'l_3']]);
  });
});

function leasesIn({ body }: { readonly body: { reports: { lease: string }[] } }): string[] {
  return body.reports.map(({ lease }) => lease);
}
