/** `npm run bench:workflows`: runs of workflows, in the core and through a server. */
import { measureRows } from '../row-table.ts';
import { ROWS } from './rows.ts';

await measureRows({
  command: 'bench:workflows',
  names: Object.keys(ROWS),
  module: new URL('./rows.ts', import.meta.url),
});
