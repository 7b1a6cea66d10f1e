import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** While it is in a data folder, that is not whole. */
export const UNFINISHED_RESTORE = 'restore.unfinished';

/** No server starts on a part of what was to be restored. */
export function refuseUnfinishedRestore(dataFolder: string): void {
  if (!existsSync(join(dataFolder, UNFINISHED_RESTORE))) return;
  throw new Error(
    `a restore into '${dataFolder}' is running or has failed; if none is running, empty the ` +
      "folder and run 'sluice restore' again",
  );
}
