/**
 * Packs `@sluice/sdk` and `sluice` into tarballs that `npm install` takes. The folders that were
 * packed stay beside them.
 *
 *   node scripts/pack.ts [FOLDER]      default: dist
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { buildSdk } from './build-sdk.ts';
import { buildSluice } from './build-sluice.ts';
import { type PackageFolder, ROOT } from './package-folder.ts';

const destination = path.resolve(process.argv[2] ?? path.join(ROOT, 'dist'));

function pack({ folder }: PackageFolder): void {
  const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', destination];
  const [file] = execFileSync('npm', args, { cwd: folder, encoding: 'utf8' }).trim().split('\n');
  console.log(`packed ${path.join(destination, file)}`);
}

mkdirSync(destination, { recursive: true });
pack(await buildSdk(path.join(destination, 'sdk')));
pack(await buildSluice(path.join(destination, 'sluice')));
