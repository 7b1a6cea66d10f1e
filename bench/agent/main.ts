/**
 * `npm run bench:agent` measures commands and containers through a real server and a real agent,
 * beside what people use by hand for the same work: GNU parallel, xargs and `docker run`. It needs
 * root, and the packages parallel, docker.io and busybox-static.
 */
import { measureRows } from '../measured-rows.ts';
import { ROWS } from './rows.ts';

await measureRows({ command: 'bench:agent', rows: ROWS, runs: 3, quickShare: 0.1 });
