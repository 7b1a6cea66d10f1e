import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { FileLog } from '@sluice/log';
import { MarkFile } from './rows/mark-file.ts';

/**
 * Makes the next start of a server read its log from the beginning. It rebuilds every task whose
 * submit is in the log, whatever its row contains. Older tasks keep their rows.
 *
 * Rejects when a server runs on the folder, or the folder holds no data.
 */
export async function rebuildProjection(dataFolder: string): Promise<void> {
  const folder = join(dataFolder, 'projection');
  if (!existsSync(folder)) throw new Error('it has no data of a server; see --data');
  // The open log keeps servers from starting meanwhile.
  const log = await FileLog.open({ folder: join(dataFolder, 'log') });
  try {
    const mark = new MarkFile(folder);
    mark.write({ position: 0, at: 0, rebuildTo: Number.MAX_SAFE_INTEGER });
    mark.close();
  } finally {
    await log.close();
  }
}
