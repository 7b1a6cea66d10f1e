/** A worker of the SDK that notes when a task and the answer to its report arrive. */
import { ClientRequest, IncomingMessage } from 'node:http';
import { defineTask, Sluice } from '@sluice/sdk';
import { mark, saveMarks, watchMethod } from './marks.ts';

process.on('message', async (order: { readonly url: string } | { readonly path: string }) => {
  if ('path' in order) {
    saveMarks(order.path);
    process.send?.('saved');
    return;
  }
  watchMethod(IncomingMessage.prototype, 'emit', {
    before: ([event]) => event === 'data' && mark('worker.bytes'),
  });
  watchMethod(ClientRequest.prototype, 'end', { before: () => mark('worker.report') });
  const traced = defineTask({ type: 'traced', run: () => mark('worker.handler') });
  await new Sluice({ url: order.url }).work([traced], { name: 'traced' });
  process.send?.('connected');
});
