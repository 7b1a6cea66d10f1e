/** Files that `apply` takes: workflows and schedules that are kept in Git. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { repeatedName } from '@sluice/protocol/body-rules';
import { inexactNumber } from '@sluice/protocol/exact-numbers';
import { UsageError } from '../base/usage-error.ts';

/** A file, or a part of one, that holds nothing to apply, and why. */
export interface UnreadableFile {
  readonly file: string;
  readonly problem: string;
  /** The name of the part, if it has one. */
  readonly id?: string;
}

export const DATA_EXTENSIONS: readonly string[] = ['.json', '.yaml', '.yml'];

/** All files of these extensions below the paths, in the order of their names. */
export async function filesBelow(
  paths: readonly string[],
  extensions: readonly string[],
): Promise<string[]> {
  const files = (await Promise.all(paths.map((path) => filesAt(path, extensions)))).flat();
  if (files.length > 0) return [...new Set(files)];
  throw new UsageError(`no files of ${extensions.join(', ')} in ${paths.join(', ')}`);
}

async function filesAt(path: string, extensions: readonly string[]): Promise<string[]> {
  const found = await stat(path).catch(() => {
    throw new UsageError(`there is no file or folder '${path}'`);
  });
  if (!found.isDirectory()) return [path];
  const names = await readdir(path, { recursive: true });
  const inModules = (name: string): boolean => name.split('/').includes('node_modules');
  return names
    .filter((name) => extensions.includes(extname(name)) && !inModules(name))
    .sort()
    .map((name) => join(path, name));
}

/** The values in a JSON or YAML file; a list counts as its elements. */
export async function dataIn(file: string): Promise<unknown[]> {
  if (!DATA_EXTENSIONS.includes(extname(file))) {
    throw new Error(`it is no file of ${DATA_EXTENSIONS.join(', ')}`);
  }
  const text = await readFile(file, 'utf8');
  return (extname(file) === '.json' ? [jsonIn(text)] : await documentsIn(text)).flat();
}

/** The server sees only the parsed value, so what parsing loses is noticed here. */
function jsonIn(text: string): unknown {
  const value = JSON.parse(text) as unknown;
  const twice = repeatedName(text, value);
  if (twice !== undefined) throw new Error(`${twice.path} ${twice.problem}`);
  const inexact = inexactNumber(text);
  if (inexact === undefined) return value;
  throw new Error(
    `${inexact.path} is a number that a double cannot hold exactly: ` +
      `write ${inexact.number} as a text`,
  );
}

async function documentsIn(text: string): Promise<unknown[]> {
  // Loaded on demand: it is large, and an agent that runs for months never needs it.
  const { parseAllDocuments } = await import('yaml');
  return [...parseAllDocuments(text)].map((document) => {
    const [problem] = document.errors;
    // Further lines of the message show the place in the text.
    if (problem !== undefined) throw new Error(problem.message.split(':\n')[0]);
    return document.toJS() as unknown;
  });
}
