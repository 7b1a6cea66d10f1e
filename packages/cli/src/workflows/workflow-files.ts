import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parse } from 'yaml';
import { UsageError } from '../usage-error.ts';

/** A definition in a file. */
export interface WorkflowFile {
  readonly file: string;
  readonly name: string;
  readonly version: number;
  readonly definition: Readonly<Record<string, unknown>>;
}

/** A file that holds no definition, and why. */
export interface UnreadableFile {
  readonly file: string;
  readonly problem: string;
}

const EXTENSIONS = ['.json', '.yaml', '.yml', '.ts', '.mts', '.js', '.mjs'];

/** Reads all definitions below the paths, in the order of their names. */
export async function readWorkflows(
  paths: readonly string[],
): Promise<(WorkflowFile | UnreadableFile)[]> {
  const files = (await Promise.all(paths.map(filesAt))).flat();
  if (files.length === 0) {
    throw new UsageError(`no files of ${EXTENSIONS.join(', ')} in ${paths.join(', ')}`);
  }
  return (await Promise.all([...new Set(files)].map(readOne))).flat();
}

async function filesAt(path: string): Promise<string[]> {
  const found = await stat(path).catch(() => {
    throw new UsageError(`there is no file or folder '${path}'`);
  });
  if (!found.isDirectory()) return [path];
  const names = await readdir(path, { recursive: true });
  const inModules = (name: string): boolean => name.split('/').includes('node_modules');
  return names
    .filter((name) => EXTENSIONS.includes(extname(name)) && !inModules(name))
    .sort()
    .map((name) => join(path, name));
}

async function readOne(file: string): Promise<(WorkflowFile | UnreadableFile)[]> {
  try {
    const values = (await valuesIn(file)).map(definitionIn).filter(isDefinition);
    if (values.length > 0) return values.map((value) => describe(file, value));
    return [{ file, problem: 'it has no definition: an object with a name and tasks' }];
  } catch (cause) {
    return [{ file, problem: (cause as Error).message }];
  }
}

/** A TypeScript or JavaScript file may export several definitions, under any names. */
async function valuesIn(file: string): Promise<unknown[]> {
  const extension = extname(file);
  if (extension === '.json') return [JSON.parse(await readFile(file, 'utf8'))].flat();
  if (['.yaml', '.yml'].includes(extension)) return [parse(await readFile(file, 'utf8'))].flat();
  const module = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  return [...new Set(Object.values(module))];
}

/** `defineWorkflow` of the SDK makes an object that has the definition as a field. */
function definitionIn(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('definition' in value)) return value;
  return isDefinition(value.definition) ? value.definition : value;
}

function isDefinition(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && 'name' in value && 'tasks' in value;
}

function describe(
  file: string,
  definition: Record<string, unknown>,
): WorkflowFile | UnreadableFile {
  const { name, version = 1 } = definition;
  if (typeof name !== 'string') return { file, problem: 'name must be a text' };
  if (!Number.isInteger(version) || (version as number) < 1) {
    return { file, problem: `version of ${name} must be a whole number from 1 on` };
  }
  return { file, name, version: version as number, definition };
}
