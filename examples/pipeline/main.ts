/** Runs the pipeline on a server: `npm start` in one terminal, this program in another one. */
import { Sluice } from '@sluice/sdk';
import { publishText } from './pipeline.ts';
import { assemble, publish, split, translate } from './tasks.ts';

const sluice = new Sluice();
await sluice.work([split, translate, assemble, publish], { slots: 4 });

const run = await sluice.start(publishText, { text: 'first chunk\n\nsecond chunk' });
console.log(`run ${run.id} waits for a review`);
const { url } = await run.result();
console.log(`published: ${url}`);
await sluice.close();
