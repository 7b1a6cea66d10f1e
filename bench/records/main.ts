/** `npm run bench:records`: what is kept of tasks, and what that costs. */
import { measureRows } from '../row-table.ts';
import { ROWS } from './rows.ts';

await measureRows({
  command: 'bench:records',
  names: Object.keys(ROWS),
  module: new URL('./rows.ts', import.meta.url),
});
