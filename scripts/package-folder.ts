/**
 * The folder from which a package is packed: its files, and `BUNDLED.json`. For each file, that
 * names the commit and the source files. Paths in it are relative to the repository.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

export const ROOT = path.resolve(import.meta.dirname, '..');

const LIST = 'BUNDLED.json';

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly exports?: Readonly<Record<string, string | { readonly default: string }>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** `file` is relative to the repository. */
export function readManifest(file: string): Manifest {
  return JSON.parse(readFileSync(path.join(ROOT, file), 'utf8')) as Manifest;
}

/** The one version of everything that is released together. */
export function releaseVersion(): string {
  return readManifest('package.json').version;
}

interface BundledFile {
  readonly file: string;
  readonly sha256: string;
  readonly sources: readonly { readonly path: string; readonly sha256: string }[];
}

export class PackageFolder {
  readonly folder: string;
  private readonly bundled = new Map<string, BundledFile>();

  /** Whatever is in the folder is removed. */
  constructor(folder: string) {
    this.folder = path.resolve(folder);
    rmSync(this.folder, { recursive: true, force: true });
    mkdirSync(this.folder, { recursive: true });
  }

  has(file: string): boolean {
    return this.bundled.has(file);
  }

  /** Writes a file. `sources` are the files of the repository that it was made from. */
  write(file: string, text: string | Buffer, sources: readonly string[]): void {
    const target = path.join(this.folder, file);
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, text);
    this.record(file, sources);
  }

  writeJson(file: string, value: unknown, sources: readonly string[]): void {
    this.write(file, `${JSON.stringify(value, undefined, 2)}\n`, sources);
  }

  /** Lists a file that another tool has written. */
  record(file: string, sources: readonly string[]): void {
    const sha256 = hashOf(path.join(this.folder, file));
    const origins = sources
      .toSorted()
      .map((source) => ({ path: source, sha256: hashOf(path.join(ROOT, source)) }));
    this.bundled.set(file, { file, sha256, sources: origins });
  }

  /** A program stays one. */
  copy(source: string, file = source): void {
    const from = path.join(ROOT, source);
    this.write(file, readFileSync(from), [source]);
    chmodSync(path.join(this.folder, file), statSync(from).mode);
  }

  /** Copies all files below a folder of the repository. */
  copyFolder(source: string): void {
    const entries = readdirSync(path.join(ROOT, source), { recursive: true, withFileTypes: true });
    for (const entry of entries.filter((each) => each.isFile())) {
      this.copy(path.relative(ROOT, path.join(entry.parentPath, entry.name)));
    }
  }

  /** Adds what every package has. Nothing may be added after that. */
  finish({ name, version }: Pick<Manifest, 'name' | 'version'>): void {
    this.copy('LICENSE');
    this.copy('CHANGELOG.md');
    const files = [...this.bundled.values()].sort((a, b) => (a.file < b.file ? -1 : 1));
    const list = { name, version, ...commitOfSources(), files };
    writeFileSync(path.join(this.folder, LIST), `${JSON.stringify(list, undefined, 2)}\n`);
  }
}

function hashOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

/** Empty outside of a git repository: the hashes of the sources still identify them. */
function commitOfSources(): { commit?: string; isModified?: boolean } {
  const git = (...args: string[]) => {
    const stdio = ['ignore', 'pipe', 'ignore'] as const;
    return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: [...stdio] }).trim();
  };
  try {
    const changed = git('status', '--porcelain', '--untracked-files=no');
    return { commit: git('rev-parse', 'HEAD'), isModified: changed !== '' };
  } catch {
    return {};
  }
}
