import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TestSluice } from '@sluice/sdk/testing';
import { expect, test } from 'vitest';
import { chargeCard } from './charge-card.ts';

test('a card is charged under one key at all attempts, a declined one only once', async () => {
  const keys: unknown[] = [];
  const statuses = [503, 503, 200, 402];
  const payments = createServer((request, response) => {
    keys.push(request.headers['idempotency-key']);
    response.writeHead(statuses[keys.length - 1]).end('{"chargeId":"c_1"}');
  });
  payments.listen(0, '127.0.0.1');
  await once(payments, 'listening');
  const endpoint = `http://127.0.0.1:${(payments.address() as AddressInfo).port}`;
  const sluice = new TestSluice([chargeCard]);

  const paid = await sluice.submit(chargeCard, { orderId: 'o_1', endpoint });
  expect(await paid.result()).toEqual({ chargeId: 'c_1' });
  const declined = await sluice.submit(chargeCard, { orderId: 'o_2', endpoint });
  await expect(declined.result()).rejects.toThrow('card declined for o_2');

  expect(keys).toEqual([paid.id, paid.id, paid.id, declined.id]);
  payments.closeAllConnections();
  payments.close();
});
