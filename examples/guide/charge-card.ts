import { defineTask, PermanentFailure } from '@sluice/sdk';

export const chargeCard = defineTask({
  type: 'charge-card',
  retry: { maxAttempts: 5 },
  timeouts: { runMs: 30_000 },
  async run(input: { orderId: string; endpoint: string }, { signal, idempotencyKey }) {
    const headers = { 'idempotency-key': idempotencyKey };
    const response = await fetch(input.endpoint, { method: 'POST', headers, signal });

    // A declined card stays declined: retrying would only spend attempts.
    if (response.status === 402) throw new PermanentFailure(`card declined for ${input.orderId}`);
    if (!response.ok) throw new Error(`payments answered ${response.status}`);
    return (await response.json()) as { chargeId: string };
  },
});
