/** A process that prepares or measures one row once, and sends the figures to its parent. */
import type { Row } from './row.ts';

const [module, name, phase, folder, share] = process.argv.slice(2);
const { ROWS } = (await import(module)) as {
  readonly ROWS: Readonly<Record<string, () => Promise<{ readonly row: Row }>>>;
};
const { row } = await ROWS[name]();
const place = { folder, share: Number(share) };
if (phase === 'measure') process.send?.(await row.measure(place));
else await row.prepare?.(place);
