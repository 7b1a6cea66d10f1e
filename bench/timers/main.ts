/**
 * `npm run bench:timers` measures schedules and delayed tasks through the API of a real server that
 * syncs to disk: how fast they are made, changed and fired, how late they fire, what they cost
 * while nothing happens, and a restart with all of them.
 */
import { measureRows } from '../measured-rows.ts';
import { ROWS } from './rows.ts';

await measureRows({ command: 'bench:timers', rows: ROWS, runs: 1, quickShare: 0.01 });
