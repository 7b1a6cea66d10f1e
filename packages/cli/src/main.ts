import { enableCompileCache } from 'node:module';
import { cacheFolder } from './cache-folder.ts';
import { VERSION } from './version.ts';

// Compiling the sources takes half of a command's start time. The compiled code is cached for the
// next start.
const folder = cacheFolder(process.env, `${VERSION}-node-${process.version}`);
if (folder !== undefined) enableCompileCache(folder);

await import('./cli.ts');
