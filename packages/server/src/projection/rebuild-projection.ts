import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { FileLog } from '@sluice/log';
import { MarkFile } from './mark-file.ts';

/**
 * Makes the next start of a server read its log from the beginning: tasks whose rows are lost come
 * back as far as the log tells of them. Rows that are there have seen it, and stay as they are.
 *
 * Rejects when a server runs on the folder, or there is none.
 */
export async function rebuildProjection(dataFolder: string): Promise<void> {
  const folder = join(dataFolder, 'projection');
  if (!existsSync(folder)) throw new Error('there is nothing of a server in it; see --data');
  // Keeps servers out meanwhile.
  const log = await FileLog.open({ folder: join(dataFolder, 'log') });
  try {
    const mark = new MarkFile(folder);
    mark.write({ position: 0, at: 0 });
    mark.close();
  } finally {
    await log.close();
  }
}
