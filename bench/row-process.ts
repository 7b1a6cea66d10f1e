/** A process that prepares or measures one row once, and tells its parent the figures. */
import type { Row } from './row.ts';

const [module, name, phase, folder, share] = process.argv.slice(2);
const { ROWS } = (await import(module)) as {
  readonly ROWS: Readonly<Record<string, () => Promise<{ readonly row: Row }>>>;
};
const { row } = await ROWS[name]();
const place = { folder, share: Number(share) };
if (phase === 'measure') process.send?.(await row.measure(place));
else await row.prepare?.(place);
