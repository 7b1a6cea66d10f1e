/**
 * The first file of the bundle (scripts/build-bundle.ts): runs the bundle, unless the sources have
 * changed since it was built. Then it runs them.
 *
 * It is loaded by every command, so it imports little.
 */
import { readFileSync } from 'node:fs';
import { areUnchanged, type BundledSource } from './bundled-sources.ts';

const FOLDER = import.meta.dirname;
const sources = JSON.parse(readFileSync(`${FOLDER}/sources.json`, 'utf8')) as BundledSource[];

if (areUnchanged(sources, `${FOLDER}/../../../..`)) {
  await import('./main.ts');
} else {
  // The bundler must not see this import, or it would put the sources into the bundle again.
  await import(`file://${FOLDER}/../../src/main.ts`);
}
