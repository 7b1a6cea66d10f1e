/** `npm run bench:records`: the records of tasks on disk, and their cost. */
import { measureRows } from '../row-table.ts';
import { ROWS } from './rows.ts';

await measureRows({
  command: 'bench:records',
  names: Object.keys(ROWS),
  module: new URL('./rows.ts', import.meta.url),
});
