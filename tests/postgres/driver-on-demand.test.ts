import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

/** The files of the driver that a process has loaded after it imported a package. */
function driverFilesAfter(specifier: string): string[] {
  const script = `
    import { createRequire } from 'node:module';
    await import('${specifier}');
    const loaded = Object.keys(createRequire('${ROOT}/package.json').cache);
    console.log(JSON.stringify(loaded.filter((file) => file.includes('/node_modules/pg/'))));`;
  const cwd = join(ROOT, 'packages/server');
  const out = execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd });
  return JSON.parse(out.toString()) as string[];
}

test('a server that does not use PostgreSQL does not load its driver', () => {
  expect(driverFilesAfter('@sluice/server')).toEqual([]);
  expect(driverFilesAfter('@sluice/postgres')).not.toEqual([]);
});
