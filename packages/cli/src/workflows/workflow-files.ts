import { extname } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  DATA_EXTENSIONS,
  dataIn,
  filesBelow,
  type UnreadableFile,
} from '../commands/definition-files.ts';

/** A definition in a file. */
export interface WorkflowFile {
  readonly file: string;
  readonly name: string;
  readonly version: number;
  readonly definition: Readonly<Record<string, unknown>>;
}

const EXTENSIONS = [...DATA_EXTENSIONS, '.ts', '.mts', '.js', '.mjs'];

/** Reads all definitions below the paths, in the order of their names. */
export async function readWorkflows(
  paths: readonly string[],
): Promise<(WorkflowFile | UnreadableFile)[]> {
  const files = await filesBelow(paths, EXTENSIONS);
  return (await Promise.all(files.map(readOne))).flat();
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
  if (DATA_EXTENSIONS.includes(extname(file))) return dataIn(file);
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
