/** A worker that draws sounds, and a first task for it. `npm start` runs it beside the server. */
import { join } from 'node:path';
import { Sluice } from '@sluice/sdk';
import { peaks, waveformTask } from './tasks.ts';

const FOLDER = process.env.WAVEFORM_FOLDER ?? join(import.meta.dirname, 'out');

const sluice = new Sluice();
const waveform = waveformTask(sluice, FOLDER);
await sluice.work([waveform, peaks], { name: 'waveform-worker', concurrency: { waveform: 20 } });
say('a worker for the task types waveform and waveform.peaks is connected');

const task = await sluice.submit(waveform, { seconds: 20, chunks: 16, seed: Date.now() % 1000 });
say(`submitted ${task.id}: make 20 seconds of sound, look at 16 pieces of it, draw them`);
const { picture, pieces } = await task.result();
say(`${pieces} tasks in parallel, joined. The picture is ${picture}`);
say(`once more, by hand: npx sluice task submit waveform --input '{"seconds": 60}' --wait`);

function say(line: string): void {
  process.stdout.write(`waveform: ${line}\n`);
}
