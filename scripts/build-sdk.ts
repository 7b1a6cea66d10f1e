/**
 * Builds `@sluice/sdk` as it is published: bundled JavaScript without dependencies, its types, and
 * a package.json that names them.
 *
 *   node scripts/build-sdk.ts [FOLDER]      default: packages/sdk/dist
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'vite';

const ROOT = path.resolve(import.meta.dirname, '..');
const PACKAGE = path.join(ROOT, 'packages/sdk');
const SOURCES = path.join(PACKAGE, 'src');

/** The entry points that users import, and their source files. */
const ENTRIES = {
  index: 'index.ts',
  browser: 'browser.ts',
  testing: 'test-sluice/test-sluice.ts',
} as const;

async function bundle(folder: string): Promise<void> {
  await build({
    configFile: false,
    root: PACKAGE,
    logLevel: 'warn',
    ssr: { noExternal: true },
    build: {
      outDir: folder,
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
  });
}

/** Writes the declarations that the entry points need, and no others. */
function declare(folder: string): void {
  const all = mkdtempSync(path.join(tmpdir(), 'sluice-types-'));
  try {
    const emit = ['--noEmit', 'false', '--declaration', '--emitDeclarationOnly'];
    const where = ['--outDir', all, '--rootDir', path.join(ROOT, 'packages')];
    const project = path.join(PACKAGE, 'tsconfig.build.json');
    execFileSync('tsc', ['-p', project, ...emit, ...where], { stdio: 'inherit' });
    const source = path.join(all, 'sdk/src');
    const pending: string[] = Object.values(ENTRIES).map((file) => file.replace(/\.ts$/, '.d.ts'));
    const copied = new Set<string>();
    for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
      if (copied.has(file)) continue;
      copied.add(file);
      const text = readFileSync(path.join(source, file), 'utf8').replaceAll(
        /(from |import\()'(\.[^']*)\.ts'/g,
        "$1'$2.js'",
      );
      pending.push(...importsOf(file, text));
      const target = path.join(folder, 'types', file);
      mkdirSync(path.dirname(target), { recursive: true });
      writeFileSync(target, text);
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

function describe(folder: string): void {
  const { name, version, license } = JSON.parse(
    readFileSync(path.join(PACKAGE, 'package.json'), 'utf8'),
  );
  const manifest = {
    name,
    version,
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
  writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  copyFileSync(path.join(ROOT, 'LICENSE'), path.join(folder, 'LICENSE'));
  copyFileSync(path.join(ROOT, 'docs/sdk.md'), path.join(folder, 'README.md'));
}

const folder = path.resolve(process.argv[2] ?? path.join(PACKAGE, 'dist'));
await bundle(folder);
declare(folder);
describe(folder);
console.log(`built ${folder}`);
