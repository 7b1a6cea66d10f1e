/**
 * `npm run bench:server` measures what users see, with fsync on: submits over HTTP, the SDK with
 * its defaults, idle workers, a restart. Each row has its targets.
 *
 * Each row runs several times on a fresh server. The table has the median and the range.
 */
import { measureRows } from '../measured-rows.ts';
import { ROWS } from './rows.ts';

await measureRows({ command: 'bench:server', rows: ROWS, runs: 3, quickShare: 0.01 });
