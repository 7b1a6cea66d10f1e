import { defineTask, PermanentFailure } from '@sluice/sdk';

/** The tasks of the workflow in `order.ts`. A real shop would call other systems here. */

export const charge = defineTask({
  type: 'order.charge',
  retry: { maxAttempts: 5 },
  run: ({ amount }: { amount: number }) => {
    if (amount > 1000) throw new PermanentFailure('card declined');
    return { receipt: `receipt-${amount}` };
  },
});

export const pack = defineTask({
  type: 'order.pack',
  run: ({ items }: { items: readonly string[] }) => ({ parcel: items.join(' + ') }),
});

export const invoice = defineTask({
  type: 'order.invoice',
  run: ({ text }: { text: string }) => ({ pdf: `${text}.pdf` }),
});

export const fly = defineTask({
  type: 'order.fly',
  run: ({ parcel }: { parcel: string }) => ({ flight: `LH 7 with ${parcel}` }),
});
