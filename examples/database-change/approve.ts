/** Answers the question of a run: `npx node examples/database-change/approve.ts RUN yes`. */
import { Sluice } from '@sluice/sdk';

const [id = '', word] = process.argv.slice(2);
const approved = word === 'yes';
const sluice = new Sluice();
const run = sluice.run(id);
await run.complete('approve', { approved });
await sluice.close();
