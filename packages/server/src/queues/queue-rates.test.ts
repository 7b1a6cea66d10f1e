import { expect, test } from 'vitest';
import { QueueRates } from './queue-rates.ts';

test('a rate is over the last ten seconds', () => {
  let now = 0;
  const rates = new QueueRates(() => now);
  for (let i = 0; i < 50; i++) rates.submitted(3);
  rates.ended(3);

  expect(rates.perSecond(3)).toEqual({ inPerSec: 5, outPerSec: 0.1 });

  now = 15_000;
  expect(rates.perSecond(3)).toEqual({ inPerSec: 2.5, outPerSec: 0.1 });

  now = 30_000;
  expect(rates.perSecond(3)).toEqual({ inPerSec: 0, outPerSec: 0 });
});

test('queues do not share their rates', () => {
  const rates = new QueueRates(() => 0);
  rates.submitted(0);

  expect(rates.perSecond(1)).toEqual({ inPerSec: 0, outPerSec: 0 });
});
