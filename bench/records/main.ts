/** `npm run bench:records`: what is kept of tasks, and what that costs. */
import { measureRows } from '../row-table.ts';
import { ROWS } from './rows.ts';

await measureRows(Object.keys(ROWS), new URL('./rows.ts', import.meta.url));
