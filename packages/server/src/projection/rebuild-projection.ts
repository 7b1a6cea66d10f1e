import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { FileLog } from '@sluice/log';
import { MarkFile } from './rows/mark-file.ts';

/**
 * Makes the next start of a server read its log from the beginning and build anew every task whose
 * submit is in it, whatever its row says. Tasks that are older than the log stay as their rows are.
 *
 * Rejects when a server runs on the folder, or there is none.
 */
export async function rebuildProjection(dataFolder: string): Promise<void> {
  const folder = join(dataFolder, 'projection');
  if (!existsSync(folder)) throw new Error('it has no data of a server; see --data');
  // Keeps servers out meanwhile.
  const log = await FileLog.open({ folder: join(dataFolder, 'log') });
  try {
    const mark = new MarkFile(folder);
    mark.write({ position: 0, at: 0, rebuildTo: Number.MAX_SAFE_INTEGER });
    mark.close();
  } finally {
    await log.close();
  }
}
