/**
 * Bundles the command line with the server into a few files, so that it starts in a third of the
 * time (docs/decisions/0031-bundle.md). The launcher runs the bundle as long as no source changed
 * since, else the sources. What must stay true:
 *
 * 1. A file knows where the repository is: bundles are four folders below it, wherever a source is.
 * 2. A running server loads files late (a thread, a fold). So its folder stays while the next
 *    bundles are built, and `current` is a link that changes at once.
 *
 *   node scripts/build-bundle.ts
 */
import {
  existsSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { areUnchanged, type BundledSource } from '../packages/cli/src/bundled-sources.ts';
import { ROOT } from './package-folder.ts';

const FIRST_FILE = 'packages/cli/src/bundled-main.ts';
const BUNDLES = path.join(ROOT, 'packages/cli/dist');
const CURRENT = path.join(BUNDLES, 'current');
/** Beside the bundled files: what they were built from. */
const SOURCES = 'sources.json';

/** Folders that take turns. Fixed names keep the cache of compiled code small. */
const FOLDERS = ['a', 'b', 'c', 'd'];

/** They load files that lie beside their own code. */
const NOT_BUNDLED = ['@jitl/quickjs-wasmfile-release-sync', 'quickjs-emscripten-core', 'jq-wasm'];

/** A file that a module loads at its own time: a worker thread, a child process or a text. */
const LOADED_LATE = /new URL\('(\.[^']+)', import\.meta\.url\)/g;

/** Files whose change makes another bundle, though they are in none. */
const ALSO_DECIDING = ['package-lock.json', 'scripts/build-bundle.ts'];

/** Builds the bundle, if it is not that of the sources as they are. */
export async function buildBundle(): Promise<void> {
  if (isBuilt()) return;
  console.error('bundling the command line …');
  const folder = path.join(BUNDLES, `new-${process.pid}`);
  try {
    const sources = await bundleInto(folder);
    writeFileSync(path.join(folder, SOURCES), JSON.stringify(sources));
    makeCurrent(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function isBuilt(): boolean {
  const list = path.join(CURRENT, SOURCES);
  if (!existsSync(list)) return false;
  return areUnchanged(JSON.parse(readFileSync(list, 'utf8')) as BundledSource[], ROOT);
}

async function bundleInto(folder: string): Promise<BundledSource[]> {
  const { rolldown } = await import('rolldown');
  // Read before the build, so that a file that changes during it makes the bundle outdated.
  const sources = new Map<string, BundledSource>();
  for (const file of ALSO_DECIDING) sources.set(file, describe(file));
  const bundle = await rolldown({
    input: { main: path.join(ROOT, FIRST_FILE) },
    cwd: ROOT,
    platform: 'node',
    external: NOT_BUNDLED,
    // Unused code costs nothing until it runs, and removing it could change what runs.
    treeshake: false,
    plugins: [
      {
        name: 'sluice',
        transform(code, id) {
          const file = path.relative(ROOT, id);
          if (!file.startsWith('packages/')) return null;
          sources.set(file, describe(file));
          if (file === FIRST_FILE) return null;
          return placeFiles(code, path.dirname(file), (loaded) => {
            const name = path.basename(loaded, '.ts');
            this.emitFile({ type: 'chunk', id: path.join(ROOT, loaded), fileName: `${name}.js` });
          });
        },
      },
    ],
  });
  await bundle.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'part-[name].js',
  });
  await bundle.close();
  return [...sources.values()];
}

/** What a module finds beside itself, it finds from the bundle. */
function placeFiles(code: string, folder: string, load: (file: string) => void): string {
  const fromBundle = path.join('../../../..', folder);
  return code
    .replaceAll(LOADED_LATE, (_, specifier: string) => {
      const file = path.join(folder, specifier);
      if (!file.endsWith('.ts')) return `new URL('../../../../${file}', import.meta.url)`;
      load(file);
      return `new URL('./${path.basename(file, '.ts')}.js', import.meta.url)`;
    })
    .replaceAll('import.meta.dirname', () => `(import.meta.dirname + '/${fromBundle}')`);
}

function describe(file: string): BundledSource {
  const { size, mtimeMs } = statSync(path.join(ROOT, file));
  return [file, size, mtimeMs];
}

/** Several processes may build at once, from the same sources: the last one stays. */
function makeCurrent(folder: string): void {
  const used = existsSync(CURRENT) ? FOLDERS.indexOf(readlinkSync(CURRENT)) : -1;
  const name = FOLDERS[(used + 1) % FOLDERS.length];
  const target = path.join(BUNDLES, name);
  rmSync(target, { recursive: true, force: true });
  renameSync(folder, target);
  const link = `${folder}-link`;
  symlinkSync(name, link);
  renameSync(link, CURRENT);
}

if (import.meta.main) await buildBundle();
