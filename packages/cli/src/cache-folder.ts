import { lstatSync, mkdirSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

const OTHERS_MAY_WRITE = 0o022;

/** The cache of a version that was not started for this long is removed. */
const UNUSED_MS_MAX = 30 * 24 * 60 * 60 * 1000;

/**
 * Where compiled code of this version is kept between starts. Undefined where it cannot be trusted:
 * a folder that other users own or may write to could contain their code.
 */
export function cacheFolder(
  env: Readonly<Record<string, string | undefined>>,
  version: string,
): string | undefined {
  try {
    const base = env.XDG_CACHE_HOME ?? '';
    const all = join(isAbsolute(base) ? base : join(homedir(), '.cache'), 'sluice');
    mkdirSync(all, { recursive: true, mode: 0o700 });
    const { uid, mode } = lstatSync(all);
    const isOurs = uid === process.getuid?.() && (mode & OTHERS_MAY_WRITE) === 0;
    if (!isOurs) return undefined;
    const folder = join(all, version);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    removeUnused(all, folder);
    return folder;
  } catch {
    // There is no home folder, or it is not writable. The start only takes longer.
    return undefined;
  }
}

/** Compares the folders' times; each start sets the time of the folder that it uses. */
function removeUnused(all: string, used: string): void {
  const now = Date.now();
  utimesSync(used, now / 1000, now / 1000);
  for (const name of readdirSync(all)) {
    const other = join(all, name);
    if (now - lstatSync(other).mtimeMs < UNUSED_MS_MAX) continue;
    rmSync(other, { recursive: true, force: true });
  }
}
