import { defineWorkflow, inputOf } from '@sluice/sdk';
import { charge, fly, invoice, pack } from './tasks.ts';

export interface Order {
  readonly amount: number;
  readonly items: readonly string[];
  readonly speed?: 'normal' | 'express';
}

export const order = defineWorkflow(
  'ship-order',
  { version: 1, input: inputOf<Order>(), inputTemplate: { speed: 'normal' } },
  (w) => {
    const paid = w.step('charge', charge, { amount: w.input.amount });

    const { packed, written } = w.fork({
      packed: (w) => w.step('pack', pack, { items: w.input.items }),
      written: (w) => w.step('invoice', invoice, { text: `Invoice ${paid.output.receipt}` }),
    });

    const sent = w.switch(w.input.speed, {
      express: (w) => w.step('fly', fly, { parcel: packed.output.parcel }, { retryCount: 2 }),
    });

    return { invoice: written.output.pdf, flight: sent.express.output.flight };
  },
);
