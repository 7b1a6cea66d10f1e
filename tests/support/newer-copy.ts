import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** The version after this one: the same sources with the next level. Returns its launcher. */
export function makeNewerCopy(folder: string): string {
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, '@sluice'), { recursive: true });
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    if (name !== '@sluice') symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  }
  for (const name of readdirSync(join(ROOT, 'packages'))) {
    const copy = join(folder, 'packages', name);
    cpSync(join(ROOT, 'packages', name), copy, { recursive: true, filter: isNeeded });
    symlinkSync(copy, join(modules, '@sluice', name));
  }
  const path = join(folder, 'packages/core/src/base/level.ts');
  const text = readFileSync(path, 'utf8');
  const newer = text.replace(/LEVEL = (\d+)/, (_, level: string) => `LEVEL = ${Number(level) + 1}`);
  if (newer === text) throw new Error('the level is declared elsewhere');
  writeFileSync(path, newer);
  return join(folder, 'packages/cli/bin/sluice');
}

function isNeeded(path: string): boolean {
  return !/\.test\.tsx?$|^node_modules$|^dist/.test(basename(path));
}
