import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/**
 * The environment for threads and processes that run our sources. If the starting program has a
 * compile cache, they use it, too: each loads a hundred files, and starts in a quarter of the time
 * with a filled cache.
 */
export function envWithCompileCache(): NodeJS.ProcessEnv {
  const folder = getCompileCacheDir();
  if (folder === undefined) return process.env;
  // Node appends its version to the folder that it is given.
  return { ...process.env, NODE_COMPILE_CACHE: dirname(folder) };
}
