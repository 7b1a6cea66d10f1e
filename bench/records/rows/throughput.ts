import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ServerProcess } from '../../path/server-process.ts';
import type { Figure, Row } from '../../row.ts';
import { throughSdk } from '../../server/through-sdk.ts';

const TASKS = 300_000;
const ORDER = { inFlight: 10_000, rate: 0, waits: false };

/**
 * Submit to finished, once with a working projection and once with a blocked one. Its database is
 * locked, so it can neither write nor accept records.
 */
export const row: Row = {
  measure: async ({ share }) => {
    const order = { ...ORDER, tasks: TASKS * share };
    const on = await throughSdk(order);
    const off = await throughSdk(order, lockProjection);
    return [...figures('on', on), ...figures('locked', off)];
  },
};

function figures(how: string, measured: Readonly<Record<string, number>>): Figure[] {
  return [
    { what: `submit to finished, projection ${how}`, unit: 'tasks/s', value: measured['tasks/s'] },
    { what: `CPU of the server, projection ${how}`, unit: 'µs', value: measured['server µs'] },
  ];
}

/** The lock is held until this process ends. */
async function lockProjection({ url, folder }: ServerProcess): Promise<void> {
  // The file of the day is made with its first row, which is that of a finished task.
  const answer = await fetch(`${url}/v1/tasks`, { method: 'POST', body: '{"type":"first"}' });
  const { id } = (await answer.json()) as { id: string };
  await fetch(`${url}/v1/tasks/${id}/cancel`, { method: 'POST' });
  const days = join(folder, 'projection', 'days');
  const newest = () => readdirSync(days).filter((name) => /^2.*sqlite$/.test(name))[0];
  while (!existsSync(days) || newest() === undefined) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const database = new DatabaseSync(join(days, newest()));
  database.exec('PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE');
  locks.push(database);
}

/** A database without a reference would be closed. */
const locks: DatabaseSync[] = [];
