import { join } from 'node:path';
import { Projector } from '../../../packages/server/src/projection/projector.ts';
import type { Figure, Row } from '../../row.ts';
import { madeLog } from '../log-maker.ts';

const TASKS = 200_000;
const SAVE_EVERY_MS = 500;
const NO_RETENTION = { ageMs: Number.POSITIVE_INFINITY, bytesMax: Number.POSITIVE_INFINITY };
const START_AT = Date.UTC(2030, 0, 1, 12);

/** The cost per task of following the log, with nothing else in the process. */
export const row: Row = {
  measure: async ({ folder, share }) => {
    const tasks = TASKS * share;
    return [
      ...project(join(folder, 'soon'), { tasks, depth: 1000 }, 'tasks that end soon'),
      ...project(join(folder, 'backlog'), { tasks, depth: tasks }, 'a backlog'),
    ];
  },
};

function project(
  folder: string,
  options: { readonly tasks: number; readonly depth: number },
  name: string,
): Figure[] {
  const { tasks } = options;
  const batches = [...madeLog({ ...options, startAt: START_AT })];
  const projector = Projector.open({ folder, retention: NO_RETENTION, notify: () => undefined });
  const before = process.cpuUsage();
  let savedAt = 0;
  for (const batch of batches) {
    projector.take(batch);
    const { at } = projector.seen;
    if (at - savedAt < SAVE_EVERY_MS) continue;
    projector.save(at);
    savedAt = at;
  }
  projector.saveAll();
  const { user, system } = process.cpuUsage(before);
  const { bytes } = projector;
  projector.close();
  return [
    { what: `${name}: CPU per task`, unit: 'µs', value: (user + system) / tasks, target: '8' },
    { what: `${name}: disk per task`, unit: 'bytes', value: bytes / tasks },
  ];
}
