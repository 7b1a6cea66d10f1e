import { existsSync, readFileSync } from 'node:fs';
import { mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** A data folder that contains this file is incomplete. Its text is the command that made it. */
const UNFINISHED_RESTORE = 'restore.unfinished';

/** Commands that fill an empty data folder. */
type Filling = 'restore' | 'export';

/** The data folder cannot be filled: it has something in it. */
class FolderNotEmptyError extends Error {
  override readonly name = 'FolderNotEmptyError';
}

/** No server starts on an incomplete restore or export. */
export function refuseUnfinishedRestore(dataFolder: string): void {
  const path = join(dataFolder, UNFINISHED_RESTORE);
  if (!existsSync(path)) return;
  const command = readFileSync(path, 'utf8') || 'restore';
  const article = command === 'export' ? 'an' : 'a';
  throw new Error(
    `${article} ${command} into '${dataFolder}' is running or has failed; if none is running, ` +
      `empty the folder and run 'sluice ${command}' again`,
  );
}

/** From here on the folder belongs to this command, and no server starts on it. */
export async function claimFolder(dataFolder: string, command: Filling): Promise<void> {
  await mkdir(dataFolder, { recursive: true, mode: 0o700 });
  const names = await readdir(dataFolder);
  if (names.includes(UNFINISHED_RESTORE)) {
    throw new FolderNotEmptyError(
      `'${dataFolder}' has a part of a restore or export that is running or has failed; ` +
        `if none is running, empty the folder and ${command} again`,
    );
  }
  if (names.length > 0) {
    throw new FolderNotEmptyError(
      `'${dataFolder}' is not empty: choose another folder, or move it away`,
    );
  }
  const mark = await open(join(dataFolder, UNFINISHED_RESTORE), 'wx', 0o600);
  try {
    await mark.writeFile(command);
    await mark.sync();
  } finally {
    await mark.close();
  }
  await syncPath(dataFolder);
}

/** Everything is in the folder: servers may start on it. */
export async function completeFolder(dataFolder: string): Promise<void> {
  await rm(join(dataFolder, UNFINISHED_RESTORE));
  await syncPath(dataFolder);
}

/** The folder was empty before. The mark is removed last. */
export async function emptyFolder(dataFolder: string): Promise<void> {
  const names = (await readdir(dataFolder)).filter((name) => name !== UNFINISHED_RESTORE);
  for (const name of [...names, UNFINISHED_RESTORE]) {
    await rm(join(dataFolder, name), { recursive: true, force: true });
  }
}

/** Makes a file, or the names in a folder, durable. */
export async function syncPath(path: string): Promise<void> {
  const file = await open(path);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
