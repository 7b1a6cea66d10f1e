import { expect, test } from 'vitest';
import { callbacksJson, type DeliveryRecord, noteDelivery } from './delivery-record.ts';

const SUBJECT = { slot: 0, task: 5, delivery: 1, state: 6 };
const TRIED = { ...SUBJECT, status: 503, durationMs: 12 };

type Noted = Parameters<typeof noteDelivery>[1];

function noted(...events: object[]): { deliveries: DeliveryRecord[] } {
  const record = { deliveries: [] as DeliveryRecord[] };
  events.forEach((event, at) => {
    noteDelivery(record, event as Noted, 1000 * (at + 1));
  });
  return record;
}

test('every try of a delivery is told, with what came of it', () => {
  const record = noted(
    { type: 'callback_failed', ...TRIED, failure: 1, nextAt: 5000 },
    { type: 'callback_failed', ...TRIED, status: 0, failure: 4, nextAt: 0 },
    { type: 'callback_redelivered', ...SUBJECT },
    { type: 'callback_delivered', ...TRIED, status: 200 },
    { type: 'callback_dropped', ...SUBJECT, delivery: 2 },
  );

  const { items } = JSON.parse(callbacksJson(record));

  expect(items[0]).toEqual({
    id: 'c_0000000001',
    type: 'task.succeeded',
    at: '1970-01-01T00:00:01.000Z',
    outcome: 'failed',
    status: 503,
    failure: 'answered_with_error',
    durationMs: 12,
    nextAt: '1970-01-01T00:00:05.000Z',
  });
  expect(items.slice(1)).toMatchObject([
    { outcome: 'given_up', status: null, failure: 'timed_out', nextAt: null },
    { outcome: 'redelivered', status: null, failure: null },
    { outcome: 'delivered', status: 200, failure: null },
    { outcome: 'dropped', id: 'c_0000000002' },
  ]);
});

test('of very many tries the newest are kept', () => {
  const failed = { type: 'callback_failed', ...TRIED, failure: 1, nextAt: 5000 };

  const { deliveries } = noted(...Array.from({ length: 130 }, () => failed));

  expect(deliveries).toHaveLength(100);
  expect(deliveries[99][2]).toBe(130_000);
});
