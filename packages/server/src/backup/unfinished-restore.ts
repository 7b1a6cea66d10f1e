import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** A data folder that contains this file is incomplete. */
export const UNFINISHED_RESTORE = 'restore.unfinished';

/** No server starts on an incomplete restore. */
export function refuseUnfinishedRestore(dataFolder: string): void {
  if (!existsSync(join(dataFolder, UNFINISHED_RESTORE))) return;
  throw new Error(
    `a restore into '${dataFolder}' is running or has failed; if none is running, empty the ` +
      "folder and run 'sluice restore' again",
  );
}
