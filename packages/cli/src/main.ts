import { enableCompileCache } from 'node:module';
import { cacheFolder } from './cache-folder.ts';
import { VERSION } from './version.ts';

// Half of the time that a command takes to start is spent on turning its sources into code. What
// comes of it is kept for the next one.
const folder = cacheFolder(process.env, `${VERSION}-node-${process.version}`);
if (folder !== undefined) enableCompileCache(folder);

await import('./cli.ts');
