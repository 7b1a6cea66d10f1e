/** A worker that draws sounds, and a first run for it. `npm start` runs it beside the server. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Sluice } from '@sluice/sdk';
import { draw, peaks, record, split } from './tasks.ts';
import { waveform } from './waveform.ts';

/** Stands for a service that wants to know when the picture is there. */
const receiver = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(204).end();
    say('the run told the receiver of its callback');
    receiver.close();
  });
});
await once(receiver.listen(0, '127.0.0.1'), 'listening');
const { port } = receiver.address() as AddressInfo;

const [address] = (process.env.SLUICE_URL ?? 'http://127.0.0.1:7420').split(',');
const sluice = new Sluice();
await sluice.work([record, split, peaks, draw], { name: 'waveform-worker' });
say('a worker for the steps of the workflow "waveform" is connected');

const tell = `http://127.0.0.1:${port}/`;
const run = await sluice.start(waveform, { seconds: 20, seed: Date.now() % 1000, tell });
say(`started ${run.id}: make 20 seconds of sound, measure 16 pieces of it, draw them`);
say(`watch it in a browser: ${address}/runs/${run.id}`);
const { picture, pieces } = await run.result();
say(`${pieces} tasks in parallel, joined. The picture is ${picture}`);
say(`its steps: npx sluice run get ${run.id}`);
say(`once more, by hand: npx sluice workflow start waveform --input '{"seconds": 60}' --wait`);

function say(line: string): void {
  process.stdout.write(`waveform: ${line}\n`);
}
