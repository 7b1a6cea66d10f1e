/**
 * Builds `sluice` as it is published: the command line with the server. Node does not strip types
 * below node_modules, so the package has each source file as JavaScript. Lines and columns stay the
 * same, so that a stack trace points to the source.
 *
 *   node scripts/build-sluice.ts [FOLDER]      default: dist/sluice
 */
import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { buildConsole, CONSOLE_ENTRY, CONSOLE_OUTPUT, consoleSources } from './build-console.ts';
import { PackageFolder, ROOT, readManifest, releaseVersion } from './package-folder.ts';

const ENTRY = 'packages/cli/src/main.ts';
const LAUNCHER = 'packages/cli/bin/sluice';

/** The manifests that declare the packages of others. */
const WITH_DEPENDENCIES = ['protocol', 'server', 'postgres'].map(
  (name) => `packages/${name}/package.json`,
);

/** A file that the code loads: an import, a worker thread, a child process, or a text. */
const LOADED = /(\bfrom |\bimport |\bimport\(|\bnew URL\()'([^']+)'/g;

/** Copies what the command needs, and returns the names of other packages that it imports. */
function bundle(target: PackageFolder): Set<string> {
  const imported = new Set<string>();
  const pending = [ENTRY];
  for (let source = pending.pop(); source !== undefined; source = pending.pop()) {
    const file = builtName(source);
    if (target.has(file)) continue;
    if (!source.endsWith('.ts')) {
      target.copy(source);
      continue;
    }
    const from = source;
    const code = stripTypeScriptTypes(readFileSync(path.join(ROOT, source), 'utf8'));
    const text = code.replaceAll(LOADED, (all, before: string, specifier: string) => {
      const loaded = sourceOf(specifier, from);
      if (loaded === undefined) {
        if (!specifier.startsWith('node:')) imported.add(packageOf(specifier));
        return all;
      }
      pending.push(loaded);
      const relative = path.relative(path.dirname(file), builtName(loaded));
      return `${before}'${relative.startsWith('.') ? relative : `./${relative}`}'`;
    });
    target.write(file, text, [source]);
  }
  return imported;
}

function builtName(source: string): string {
  return source.replace(/\.ts$/, '.js');
}

/** The file of this repository that an import means. Undefined for other packages. */
function sourceOf(specifier: string, from: string): string | undefined {
  if (specifier.startsWith('.')) return path.join(path.dirname(from), specifier);
  const [, name, entry] = /^@sluice\/([a-z]+)(.*)$/.exec(specifier) ?? [];
  if (name === undefined) return undefined;
  const { exports = {} } = readManifest(`packages/${name}/package.json`);
  const given = exports[`.${entry}`];
  // The SDK has another entry for browsers.
  const file = typeof given === 'object' ? given.default : given;
  if (typeof file !== 'string') throw new Error(`${from} imports '${specifier}', which is unknown`);
  return path.join('packages', name, file);
}

/** `a` of `a/b`, and `@a/b` of `@a/b/c`. */
function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** The exact versions of packages that the workspaces declare. */
function versionsOf(names: ReadonlySet<string>): Record<string, string> {
  const manifests = WITH_DEPENDENCIES.map((file) => readManifest(file).dependencies);
  const declared: Readonly<Record<string, string>> = Object.assign({}, ...manifests);
  return Object.fromEntries(
    [...names].sort().map((name) => {
      if (declared[name] === undefined) throw new Error(`no manifest has a version of '${name}'`);
      return [name, declared[name]];
    }),
  );
}

function describe(target: PackageFolder, imported: ReadonlySet<string>): void {
  const { name, license } = readManifest('package.json');
  const manifest = {
    name,
    version: releaseVersion(),
    description: 'The server and the command line of Sluice, a task scheduler.',
    license,
    type: 'module',
    // No package with a Node is among the dependencies: npm would link it into the user's
    // node_modules/.bin, and all scripts of that project would run on it.
    engines: { node: '>=24' },
    bin: { sluice: LAUNCHER },
    dependencies: versionsOf(imported),
  };
  const origins = ['package.json', ...WITH_DEPENDENCIES];
  target.writeJson('package.json', manifest, origins);
  target.finish(manifest);
}

/** The page is written for the folder `docs`. */
function readme(): string {
  const page = readFileSync(path.join(ROOT, 'docs/packages.md'), 'utf8');
  return page.replaceAll(/\]\((?!\w+:|#)(?:\.\.\/)?/g, (link) =>
    link.endsWith('../') ? '](' : '](docs/',
  );
}

/** The console as its build made it. */
function copyConsole(target: PackageFolder): void {
  const built = path.join(ROOT, CONSOLE_OUTPUT);
  const files = readdirSync(built, { recursive: true, withFileTypes: true });
  const sources = consoleSources();
  for (const entry of files.filter((each) => each.isFile())) {
    const file = path.relative(ROOT, path.join(entry.parentPath, entry.name));
    // The page loads all other files; listing every source for each of them would say no more.
    const isPage = entry.name === 'index.html';
    target.write(file, readFileSync(path.join(ROOT, file)), isPage ? sources : [CONSOLE_ENTRY]);
  }
}

/** Builds the package in a folder, whose contents it replaces. */
export async function buildSluice(folder: string): Promise<PackageFolder> {
  await buildConsole();
  const target = new PackageFolder(folder);
  const imported = bundle(target);
  target.copy(LAUNCHER);
  target.copyFolder('docs');
  target.copyFolder('deploy');
  copyConsole(target);
  target.write('README.md', readme(), ['docs/packages.md']);
  describe(target, imported);
  return target;
}

if (import.meta.main) {
  const { folder } = await buildSluice(process.argv[2] ?? path.join(ROOT, 'dist/sluice'));
  console.log(`built ${folder}`);
}
