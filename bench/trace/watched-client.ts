/** Submits tasks one after the other, with pauses, and notes when each was sent and answered. */
import { ClientRequest } from 'node:http';
import { Sluice } from '@sluice/sdk';
import { mark, saveMarks, watchMethod } from './marks.ts';

interface Order {
  readonly url: string;
  readonly warmUp: number;
  readonly tasks: number;
  readonly path: string;
}

/** A task that is alone has ended after this pause, unless the machine is busy. */
const PAUSE_MS = 5;

process.once('message', async ({ url, warmUp, tasks, path }: Order) => {
  const sluice = new Sluice({ url });
  await sluice.register({ type: 'traced' });
  const input = { text: 'x'.repeat(120) };
  for (let n = 0; n < warmUp; n++) await sluice.submit('traced', input);
  watchMethod(ClientRequest.prototype, 'end', { before: () => mark('client.send') });
  for (let n = 0; n < tasks; n++) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    mark('client.call');
    await sluice.submit('traced', input);
    mark('client.answer');
  }
  await new Promise((resolve) => setTimeout(resolve, 100));
  saveMarks(path);
  process.send?.('done');
});
