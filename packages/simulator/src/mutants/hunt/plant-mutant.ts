/**
 * Plants the bug that the environment names into the modules of this process while they are loaded.
 * Node gets this file by `--import`. So the changed text exists only in the memory of one child
 * process of the simulator.
 */
import { registerHooks } from 'node:module';
import { MUTANT_VARIABLE, type Mutant, NOT_PLANTED_EXIT_CODE, plant, urlOf } from '../mutant.ts';

const mutant = JSON.parse(process.env[MUTANT_VARIABLE] ?? '') as Mutant;
const target = urlOf(mutant).href;
let isPlanted = false;

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (url !== target || loaded.source === undefined || loaded.source === null) return loaded;
    isPlanted = true;
    // The format is TypeScript; types are erased later.
    return { ...loaded, source: plant(loaded.source.toString(), mutant) };
  },
});

// Orders arrive when everything is loaded. Without this check, a bug that was not planted would
// look like a bug that was not found.
process.once('message', () => {
  if (!isPlanted) process.exit(NOT_PLANTED_EXIT_CODE);
});
