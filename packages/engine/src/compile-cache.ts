import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/**
 * The environment for threads and processes that run sources of ours. Where the program that
 * starts them keeps what its sources were compiled to, theirs are kept, too: each loads a hundred
 * files, and starts in a quarter of the time when they are there.
 */
export function envWithCompileCache(): NodeJS.ProcessEnv {
  const folder = getCompileCacheDir();
  if (folder === undefined) return process.env;
  // Node appends its version to the folder that it is given.
  return { ...process.env, NODE_COMPILE_CACHE: dirname(folder) };
}
