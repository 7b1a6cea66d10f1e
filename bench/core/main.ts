/** `npm run bench:core`: core, engine and log without HTTP. */
import { measureRows } from '../row-table.ts';
import { ROWS } from './rows.ts';

await measureRows({
  command: 'bench:core',
  names: Object.keys(ROWS),
  module: new URL('./rows.ts', import.meta.url),
});
