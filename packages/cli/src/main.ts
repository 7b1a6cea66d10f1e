import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

// Half of the time that a command takes to start is spent on turning its sources into code. What
// comes of it is kept for the next one, in a folder that nobody else can write to: it is trusted.
// Where it cannot be kept, a command starts as before.
enableCompileCache(join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'sluice'));

await import('./cli.ts');
