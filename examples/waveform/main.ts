/** A worker that draws sounds, and a first run for it. `npm start` runs it beside the server. */
import { Sluice } from '@sluice/sdk';
import { draw, peaks, record, split } from './tasks.ts';
import { waveform } from './waveform.ts';

const sluice = new Sluice();
await sluice.work([record, split, peaks, draw], { name: 'waveform-worker' });
say('a worker for the steps of the workflow "waveform" is connected');

const run = await sluice.start(waveform, { seconds: 20, seed: Date.now() % 1000 });
say(`started ${run.id}: make 20 seconds of sound, measure 16 pieces of it, draw them`);
const { picture, pieces } = await run.result();
say(`${pieces} tasks in parallel, joined. The picture is ${picture}`);
say(`its steps: npx sluice run get ${run.id}`);
say(`once more, by hand: npx sluice workflow start waveform --input '{"seconds": 60}' --wait`);

function say(line: string): void {
  process.stdout.write(`waveform: ${line}\n`);
}
