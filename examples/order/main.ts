/** Runs the workflow on a server: `npm start` in one terminal, this program in another one. */
import { RunFailed, Sluice } from '@sluice/sdk';
import { order } from './order.ts';
import { charge, fly, invoice, pack } from './tasks.ts';

const sluice = new Sluice();
await sluice.work([charge, pack, invoice, fly]);

const run = await sluice.start(order, { amount: 12, items: ['pen', 'ink'], speed: 'express' });
const result = await run.result();
console.log(`${result.invoice}, ${result.flight ?? 'by road'}`);

const declined = await sluice.start(order, { amount: 5000, items: [] });
try {
  await declined.result();
} catch (error) {
  if (!(error instanceof RunFailed)) throw error;
  console.log(`${error.step}: ${error.error?.message}`);
}
await sluice.close();
