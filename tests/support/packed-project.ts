/** Projects of users, outside of the repository, in which the packages are installed. */
import { execFile, execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '../..');
const BIN = join(ROOT, 'node_modules/.bin');

const execute = promisify(execFile);

/** The user's path: without the tools of this repository. */
const SYSTEM_PATH = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((entry) => !entry.includes('node_modules'))
  .join(delimiter);

/** The path of a user whose Node is the one that this repository pins. */
const RECENT_NODE_PATH = [join(process.execPath, '..'), SYSTEM_PATH].join(delimiter);

/** Nothing of the npm that runs the tests is passed on. */
export function userEnvironment(path = RECENT_NODE_PATH): Record<string, string> {
  return { HOME: process.env.HOME ?? '/', PATH: path };
}

export interface Tarballs {
  readonly sdk: string;
  readonly sluice: string;
}

/** Packs both packages into a folder. */
export async function packPackages(folder: string): Promise<Tarballs> {
  const env = userEnvironment([BIN, SYSTEM_PATH].join(delimiter));
  execFileSync(
    'node',
    ['--disable-warning=ExperimentalWarning', join(ROOT, 'scripts/pack.ts'), folder],
    { env },
  );
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  const tarball = (name: string) => join(folder, `${name}-${version}.tgz`);
  return { sdk: tarball('sluice-sdk'), sluice: tarball('sluice') };
}

/** An empty project in which only this tarball is installed. */
export class PackedProject {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async install(folder: string, tarball: string, ...flags: string[]) {
    const project = new PackedProject(folder);
    await mkdir(folder, { recursive: true });
    await project.write('package.json', '{ "name": "app", "private": true, "type": "module" }');
    await project.write('package-lock.json', JSON.stringify(await lockOfOthers()));
    const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    await project.run('npm', ['install', '--prefer-offline', ...quiet, ...flags, tarball]);
    return project;
  }

  write(file: string, text: string): Promise<void> {
    return writeFile(join(this.folder, file), text);
  }

  /** Runs a command in the project; rejects with its output if it fails. */
  async run(command: string, args: readonly string[], env = {}): Promise<string> {
    const options = { cwd: this.folder, env: { ...userEnvironment(), ...env } };
    return (await execute(command, args, options)).stdout;
  }

  /** What starts a command in the project as a user does: with its folder and environment. */
  command(...words: readonly string[]): { command: string; args: string[] } {
    const variables = Object.entries(userEnvironment()).map(([name, value]) => `${name}=${value}`);
    const script = 'cd "$0" && exec "$@"';
    const shell = ['sh', '-c', script, this.folder, ...words];
    return { command: 'env', args: ['-i', ...variables, ...shell] };
  }
}

/**
 * A lockfile that names the packages of others in the versions of this repository. npm has these in
 * its cache since the repository was installed, and asks no registry about versions.
 */
async function lockOfOthers(): Promise<object> {
  const lock = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  };
  const locked = Object.entries(lock.packages).filter(([, { integrity }]) => integrity);
  const others = locked.map(([place, { dev, ...entry }]) => [place, entry]);
  const packages = { '': { name: 'app' }, ...Object.fromEntries(others) };
  return { name: 'app', lockfileVersion: 3, requires: true, packages };
}
