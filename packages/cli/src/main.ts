import { enableCompileCache } from 'node:module';
import { VERSION } from './base/version.ts';
import { cacheFolder } from './cache-folder.ts';

// Compiling the sources takes half of a command's start time. The compiled code is cached for the
// next start. Node keeps its versions apart.
const folder = cacheFolder(process.env, VERSION);
if (folder !== undefined) enableCompileCache(folder);

// The launcher has turned it on already; programs that this one starts need not know of it.
const { env } = process;
if (env.NODE_COMPILE_CACHE === folder) delete env.NODE_COMPILE_CACHE;

await import('./cli.ts');
