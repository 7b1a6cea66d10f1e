import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Mutant, plant } from '../mutant.ts';

const ROOT = fileURLToPath(new URL('../../../../..', import.meta.url));

/**
 * Copies the packages that have mutants into a folder. Plants all mutants that do not overlap and
 * returns the others. The copy is only compiled, never run.
 */
export function makeMutatedCopy(folder: string, mutants: readonly Mutant[]): Mutant[] {
  copyPackages(folder);
  const left: Mutant[] = [];
  for (const mutant of mutants) {
    const path = join(folder, 'packages', mutant.file);
    try {
      writeFileSync(path, plant(readFileSync(path, 'utf8'), mutant));
    } catch {
      // Another mutant changed the same place. Each mutant was planted alone earlier.
      left.push(mutant);
    }
  }
  return left;
}

function copyPackages(folder: string): void {
  mkdirSync(join(folder, 'node_modules/@sluice'), { recursive: true });
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (name === '@sluice') continue;
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  }
  for (const name of PACKAGES) {
    const copy = join(folder, 'packages', name);
    cpSync(join(ROOT, 'packages', name), copy, { recursive: true, filter: isSource });
    symlinkSync(copy, join(folder, 'node_modules/@sluice', name));
  }
  const extended = join(ROOT, 'tsconfig.base.json');
  // A bug may leave some declarations unused.
  const compilerOptions = { types: ['node'], noUnusedLocals: false, noUnusedParameters: false };
  const config = { extends: extended, compilerOptions, include: ['packages/*/src/index.ts'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
}

const PACKAGES = [
  'core',
  'calendar',
  'protocol',
  'log',
  'engine',
  'postgres',
  'server',
  'sdk',
  'agent',
];

function isSource(path: string): boolean {
  return !/\.test\.ts$|^node_modules$|^testing$/.test(basename(path));
}
