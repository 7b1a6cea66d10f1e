/**
 * Builds `@sluice/sdk` as it is published: bundled JavaScript without dependencies, its types, and
 * a package.json that names them.
 *
 *   node scripts/build-sdk.ts [FOLDER]      default: packages/sdk/dist
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build, type Rolldown } from 'vite';
import { PackageFolder, ROOT, readManifest, releaseVersion } from './package-folder.ts';

const PACKAGE = path.join(ROOT, 'packages/sdk');
const SOURCES = path.join(PACKAGE, 'src');

/** The entry points that users import, and their source files. */
const ENTRIES = {
  index: 'index.ts',
  browser: 'browser.ts',
  testing: 'test-sluice/test-sluice.ts',
} as const;

async function bundle(target: PackageFolder): Promise<void> {
  const built = (await build({
    configFile: false,
    root: PACKAGE,
    logLevel: 'warn',
    ssr: { noExternal: true },
    build: {
      outDir: target.folder,
      emptyOutDir: true,
      ssr: true,
      target: 'es2022',
      minify: false,
      rolldownOptions: {
        input: Object.fromEntries(
          Object.entries(ENTRIES).map(([name, file]) => [name, path.join(SOURCES, file)]),
        ),
        external: /^node:/,
        output: { format: 'es', entryFileNames: '[name].js', chunkFileNames: 'shared-[hash].js' },
      },
    },
  })) as Rolldown.RolldownOutput;
  for (const chunk of built.output) {
    const modules = chunk.type === 'chunk' ? chunk.moduleIds : [];
    // The bundler's own modules have no file.
    const files = modules.filter((id) => path.isAbsolute(id));
    target.record(
      chunk.fileName,
      files.map((file) => path.relative(ROOT, file)),
    );
  }
}

/** Writes the declarations that the entry points need, and no others. */
function declare(target: PackageFolder): void {
  const all = mkdtempSync(path.join(tmpdir(), 'sluice-types-'));
  try {
    const emit = ['--noEmit', 'false', '--declaration', '--emitDeclarationOnly'];
    const where = ['--outDir', all, '--rootDir', path.join(ROOT, 'packages')];
    const project = path.join(PACKAGE, 'tsconfig.build.json');
    execFileSync('tsc', ['-p', project, ...emit, ...where], { stdio: 'inherit' });
    const source = path.join(all, 'sdk/src');
    const pending: string[] = Object.values(ENTRIES).map((file) => file.replace(/\.ts$/, '.d.ts'));
    for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
      if (target.has(path.join('types', file))) continue;
      const text = readFileSync(path.join(source, file), 'utf8').replaceAll(
        /(from |import\()'(\.[^']*)\.ts'/g,
        "$1'$2.js'",
      );
      pending.push(...importsOf(file, text));
      const origin = path.join('packages/sdk/src', file.replace(/\.d\.ts$/, '.ts'));
      target.write(path.join('types', file), text, [origin]);
    }
  } finally {
    rmSync(all, { recursive: true });
  }
}

/**
 * The declarations that a file imports. Other packages are refused: users would have to install
 * them.
 */
function importsOf(file: string, text: string): string[] {
  return [...text.matchAll(/(?:from |import\()'([^']+)'/g)].map(([, specifier]) => {
    if (!specifier.startsWith('.')) throw new Error(`the types in ${file} need '${specifier}'`);
    return path.join(path.dirname(file), specifier.replace(/\.js$/, '.d.ts'));
  });
}

function describe(target: PackageFolder): void {
  const { name, license } = readManifest('packages/sdk/package.json');
  const manifest = {
    name,
    version: releaseVersion(),
    description: 'Submit tasks to Sluice, wait for them, and run them.',
    license,
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20' },
    exports: {
      '.': {
        browser: { types: './types/browser.d.ts', default: './browser.js' },
        types: './types/index.d.ts',
        default: './index.js',
      },
      './testing': { types: './types/test-sluice/test-sluice.d.ts', default: './testing.js' },
    },
  };
  target.writeJson('package.json', manifest, ['package.json', 'packages/sdk/package.json']);
  target.copy('docs/sdk.md', 'README.md');
  target.finish(manifest);
}

/** Builds the package in a folder, whose contents it replaces. */
export async function buildSdk(folder: string): Promise<PackageFolder> {
  const target = new PackageFolder(folder);
  await bundle(target);
  declare(target);
  describe(target);
  return target;
}

if (import.meta.main) {
  const { folder } = await buildSdk(process.argv[2] ?? path.join(PACKAGE, 'dist'));
  console.log(`built ${folder}`);
}
