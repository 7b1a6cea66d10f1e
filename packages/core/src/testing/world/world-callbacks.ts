import fc from 'fast-check';
import { deliveryIdText } from '../../base/delivery-id.ts';
import type { RecordDelivery } from '../../commands/callbacks/record-delivery.ts';
import type { RedeliverCallbacks } from '../../commands/callbacks/redeliver-callbacks.ts';
import { DELIVERY_FAILURES } from '../../task/delivery-failures.ts';
import type { Operated } from './world-operations.ts';

/** Picks an existing delivery, or sometimes a number that does not exist. */
const choices = fc.oneof(
  { weight: 6, arbitrary: fc.nat(20) },
  { weight: 1, arbitrary: fc.constant('unknown') },
);

const failures = fc.oneof(
  { weight: 3, arbitrary: fc.constant(0) },
  { weight: 3, arbitrary: fc.constantFrom(1, DELIVERY_FAILURES.indexOf('timed_out')) },
  { weight: 2, arbitrary: fc.constantFrom(...[3, 6, 11]) },
);

/** Results of delivery tries, and operations on deliveries. */
export const callbackOperations = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      tried: choices,
      failure: failures,
      status: fc.constantFrom(0, 200, 503),
      retryAfterMs: fc.constantFrom(undefined, undefined, 0, 7000, 90_000_000),
      // Sometimes a receiver is away for longer than the retries last.
      afterMs: fc.nat(9).map((n) => (n === 0 ? 24 * 3_600_000 : 0)),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      redelivered: fc.oneof(
        fc.constant(undefined),
        fc.array(choices, { minLength: 1, maxLength: 3 }),
      ),
      isAudited: fc.boolean(),
    }),
  },
);

type CallbackOperation = typeof callbackOperations extends fc.Arbitrary<infer T> ? T : never;

const AUTHOR = { actor: 'k_0', address: '', request: 'q_1', subject: 'callbacks', detail: '' };

export function operateOnCallbacks(world: Operated, action: CallbackOperation): void {
  const { partition } = world;
  if ('redelivered' in action) {
    const ids = action.redelivered?.map((choice) => idOf(world, choice));
    partition.operate<RedeliverCallbacks>({
      type: 'redeliver_callbacks',
      ...(ids === undefined ? {} : { ids }),
      ...(action.isAudited ? { by: AUTHOR } : {}),
    });
    return;
  }
  const { tried, failure, status, retryAfterMs, afterMs } = action;
  partition.now += afterMs;
  partition.operate<RecordDelivery>({
    type: 'record_delivery',
    delivery: numberOf(world, tried),
    failure,
    status,
    durationMs: 12,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    seed: partition.seed,
  });
}

function numberOf({ model }: Operated, choice: number | string): number {
  const { all } = model.outbox;
  return typeof choice === 'string' || all.length === 0 ? 999 : all[choice % all.length].number;
}

function idOf(world: Operated, choice: number | string): string {
  return deliveryIdText({ partition: 0, number: numberOf(world, choice) });
}
