/** A process that prepares or measures one row once, and tells its parent the figures. */
import { ROWS } from './rows.ts';

const [name, phase, folder, share] = process.argv.slice(2);
const { row } = await ROWS[name]();
const place = { folder, share: Number(share) };
if (phase === 'measure') process.send?.(await row.measure(place));
else await row.prepare?.(place);
