import { lstatSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

const OTHERS_MAY_WRITE = 0o022;

/**
 * Where compiled code is kept between two starts; nothing where it could not be trusted: a folder
 * that others own or may write to could hold code of theirs.
 */
export function cacheFolder(env: Readonly<Record<string, string | undefined>>): string | undefined {
  try {
    const base = env.XDG_CACHE_HOME ?? '';
    const folder = join(isAbsolute(base) ? base : join(homedir(), '.cache'), 'sluice');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid, mode } = lstatSync(folder);
    const isOurs = uid === process.getuid?.() && (mode & OTHERS_MAY_WRITE) === 0;
    return isOurs ? folder : undefined;
  } catch {
    // No home, or no folder in it: a start takes longer, and that is all.
    return undefined;
  }
}
