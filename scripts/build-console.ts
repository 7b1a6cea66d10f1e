/**
 * Builds the console, the web pages of the server, unless its sources are those of the last build.
 *
 *   node scripts/build-console.ts
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { ROOT } from './package-folder.ts';

const CONSOLE = path.join(ROOT, 'packages/console');

/** Relative to the repository. */
export const CONSOLE_OUTPUT = 'packages/console/dist';
export const CONSOLE_ENTRY = 'packages/console/src/main.tsx';

const OUTPUT = path.join(ROOT, CONSOLE_OUTPUT);
/** Beside the built files: the hash of what they were built from. */
const STAMP = 'sources.sha256';
const COMPRESSED = /\.(?:html|js|css|svg|txt)$/;

/** The files that the console is built from, relative to the repository. */
export function consoleSources(): string[] {
  const found = readdirSync(path.join(CONSOLE, 'src'), { recursive: true, withFileTypes: true });
  const code = found
    .filter((entry) => entry.isFile() && !entry.name.includes('.test.'))
    .map((entry) => path.relative(ROOT, path.join(entry.parentPath, entry.name)));
  const others = ['index.html', 'package.json', 'tsconfig.json'];
  return [
    ...code,
    ...others.map((name) => `packages/console/${name}`),
    'packages/protocol/src/base/roles.ts',
    'package-lock.json',
    'scripts/build-console.ts',
  ].sort();
}

function hashOfSources(): string {
  const hash = createHash('sha256');
  for (const file of consoleSources()) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(path.join(ROOT, file)))
      .update('\0');
  }
  return hash.digest('hex');
}

function isBuilt(hash: string): boolean {
  const stamp = path.join(OUTPUT, STAMP);
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === hash;
}

/** The clients that accept them get these instead. */
function compress(folder: string): void {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  for (const entry of files.filter((each) => each.isFile() && COMPRESSED.test(each.name))) {
    const file = path.join(entry.parentPath, entry.name);
    const bytes = readFileSync(file);
    const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
    writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }));
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
  }
}

type Built = Awaited<ReturnType<typeof import('vite')['build']>>;

/** The licences of the packages whose code is in the build, as they ask for. */
function licencesOf(built: Built): string {
  const outputs = (Array.isArray(built) ? built : [built]).flatMap((each) =>
    'output' in each ? each.output : [],
  );
  const files = outputs.flatMap((each) => (each.type === 'chunk' ? each.moduleIds : []));
  const folders = new Set(files.flatMap((file) => PACKAGE_FOLDER.exec(file)?.[0] ?? []));
  const texts = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(
      readFileSync(path.join(folder, 'package.json'), 'utf8'),
    ) as Record<string, string>;
    const file = readdirSync(folder).find((each) => /^licen[cs]e(?:\.\w+)?$/i.test(each));
    const text = file === undefined ? license : readFileSync(path.join(folder, file), 'utf8');
    return `${name} ${version}\n\n${text.trim()}\n`;
  });
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}

const PACKAGE_FOLDER = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/;

/** Several processes may build at once: each into its own folder, and the last one stays. */
export async function buildConsole(): Promise<void> {
  const hash = hashOfSources();
  if (isBuilt(hash)) return;
  console.error('building the console …');
  const { build } = await import('vite');
  // Tests have another value, with which the build would be for development, with paths in it.
  const { NODE_ENV } = process.env;
  process.env.NODE_ENV = 'production';
  const folder = mkdtempSync(path.join(CONSOLE, 'dist-'));
  try {
    const built = await build({
      configFile: false,
      root: CONSOLE,
      logLevel: 'error',
      build: {
        outDir: folder,
        emptyOutDir: true,
        target: 'es2023',
        modulePreload: { polyfill: false },
        assetsInlineLimit: 0,
        chunkSizeWarningLimit: 1000,
      },
    });
    writeFileSync(path.join(folder, 'licences.txt'), licencesOf(built as Built));
    compress(folder);
    writeFileSync(path.join(folder, STAMP), hash);
    replaceOutput(folder);
  } finally {
    if (NODE_ENV === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = NODE_ENV;
    rmSync(folder, { recursive: true, force: true });
  }
}

function replaceOutput(folder: string): void {
  const old = `${folder}-old`;
  try {
    if (existsSync(OUTPUT)) renameSync(OUTPUT, old);
    renameSync(folder, OUTPUT);
  } catch (cause) {
    // Another process put its output there first, from the same sources.
    if (!existsSync(OUTPUT)) throw cause;
  } finally {
    rmSync(old, { recursive: true, force: true });
  }
}

if (import.meta.main) await buildConsole();
