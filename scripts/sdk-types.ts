/**
 * Writes the SDK's types of requests and answers from the protocol's schemas, so that nothing is
 * copied by hand. Published packages carry plain types, which need no other package.
 *
 *   node scripts/sdk-types.ts      writes the files in TARGETS
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  EXEC_SCHEMAS,
  OPERATOR_SCHEMAS,
  RUN_SCHEMAS,
  SCHEDULE_SCHEMAS,
  SDK_SCHEMAS,
} from '@sluice/protocol/sdk-schemas';

interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly description?: string;
  readonly default?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
}

const ROOT = path.resolve(import.meta.dirname, '..');
const BIOME = path.join(ROOT, 'node_modules/.bin/biome');
const TASK_TYPES = path.join(ROOT, 'packages/sdk/src/task/api-types.ts');
const EXEC_TYPES = path.join(ROOT, 'packages/sdk/src/task/exec-types.ts');
const OPERATOR_TYPES = path.join(ROOT, 'packages/sdk/src/operators/operator-types.ts');
const SCHEDULE_TYPES = path.join(ROOT, 'packages/sdk/src/operators/schedule-types.ts');
const RUN_TYPES = path.join(ROOT, 'packages/sdk/src/workflow/run-types.ts');

/** The files that are written. */
export const TARGETS = [EXEC_TYPES, TASK_TYPES, OPERATOR_TYPES, RUN_TYPES, SCHEDULE_TYPES] as const;

const HEADER = `// Made by scripts/sdk-types.ts from the schemas of the protocol. Change those, and run it again.
`;

type Named = readonly (readonly [name: string, schema: Schema])[];

/** The text of each file. */
export function sdkTypes(): ReadonlyMap<string, string> {
  const exec = plain(EXEC_SCHEMAS);
  const tasks = plain(SDK_SCHEMAS);
  const operators = plain(OPERATOR_SCHEMAS);
  const runs = plain(RUN_SCHEMAS);
  const schedules = plain(SCHEDULE_SCHEMAS);
  const names = new Map(
    [...exec, ...tasks, ...operators, ...runs, ...schedules].map(
      ([name, schema]) => [shapeOf(schema), name] as const,
    ),
  );
  const ofExec = { schemas: exec, file: 'exec-types.ts' };
  const both = [{ schemas: tasks, file: 'api-types.ts' }, ofExec];
  const texts: readonly (readonly [string, string])[] = [
    [EXEC_TYPES, declarations(exec, names)],
    [TASK_TYPES, withImports(declarations(tasks, names), './', [ofExec])],
    [OPERATOR_TYPES, withImports(declarations(operators, names), '../task/', both)],
    [RUN_TYPES, withImports(declarations(runs, names), '../task/', both)],
    [SCHEDULE_TYPES, withImports(declarations(schedules, names), '../task/', both)],
  ];
  return new Map(texts.map(([target, text]) => [target, formatted(target, text)]));
}

interface TypeFile {
  readonly schemas: Named;
  readonly file: string;
}

/** The declarations, with imports of the types of other files that they use. */
function withImports(text: string, folder: string, files: readonly TypeFile[]): string {
  const lines = files.map(({ schemas, file }) => {
    const used = schemas.map(([name]) => name).filter((name) => isUsed(name, text));
    if (used.length === 0) return '';
    return `import type { ${used.sort().join(', ')} } from '${folder}${file}';\n`;
  });
  return lines.join('') + text;
}

function plain(schemas: object): Named {
  return Object.entries(schemas).map(([name, schema]) => {
    return [name, JSON.parse(JSON.stringify(schema)) as Schema];
  });
}

function declarations(schemas: Named, names: Names): string {
  return schemas.map(([name, schema]) => declaration(name, schema, names)).join('');
}

function isUsed(name: string, text: string): boolean {
  return new RegExp(`[:|<(] ?(?:readonly )?\\(?${name}\\b`).test(text);
}

function formatted(target: string, text: string): string {
  const args = ['format', `--stdin-file-path=${target}`];
  return execFileSync(BIOME, args, { input: HEADER + text, encoding: 'utf8' });
}

type Names = ReadonlyMap<string, string>;

/** Schemas with the same shape are the same type. Descriptions do not count. */
function shapeOf(schema: Schema): string {
  return JSON.stringify(schema, (key, value: unknown) =>
    ['description', 'default', 'examples', 'documented'].includes(key) ? undefined : value,
  );
}

function declaration(name: string, schema: Schema, names: Names): string {
  const about = comment(schema, '');
  if (schema.properties === undefined) {
    const type = typeOf(schema, without(names, schema), '');
    return `\n${about}export type ${name} = ${type};\n`;
  }
  return `\n${about}export interface ${name} ${fieldsOf(schema, names, '')}\n`;
}

/** A type is not declared as itself. */
function without(names: Names, schema: Schema): Names {
  return new Map([...names].filter(([shape]) => shape !== shapeOf(schema)));
}

function fieldsOf(
  { properties = {}, required = [] }: Schema,
  names: Names,
  indent: string,
): string {
  const inner = `${indent}  `;
  const fields = Object.entries(properties).map(([field, schema]) => {
    const mark = required.includes(field) ? '' : '?';
    const type = typeOf(schema, names, inner);
    return `${comment(schema, inner)}${inner}readonly ${field}${mark}: ${type};\n`;
  });
  return `{\n${fields.join('')}${indent}}`;
}

function typeOf(schema: Schema, names: Names, indent: string): string {
  const known = names.get(shapeOf(schema));
  if (known !== undefined) return known;
  if (schema.const !== undefined) {
    return typeof schema.const === 'string' ? `'${schema.const}'` : String(schema.const);
  }
  if (schema.anyOf !== undefined) {
    return schema.anyOf.map((each) => typeOf(each, names, indent)).join(' | ');
  }
  switch (schema.type) {
    case 'integer':
      return 'number';
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
      return schema.type;
    case 'array':
      return `readonly ${grouped(typeOf(schema.items ?? {}, names, indent))}[]`;
    case 'object':
      if (Object.keys(schema.properties ?? {}).length > 0) return fieldsOf(schema, names, indent);
      return `Readonly<Record<string, ${typeOf(valuesOf(schema), names, indent)}>>`;
    default:
      return 'unknown';
  }
}

function valuesOf({ patternProperties, additionalProperties }: Schema): Schema {
  const [pattern] = Object.values(patternProperties ?? {});
  if (pattern !== undefined) return pattern;
  return typeof additionalProperties === 'object' ? additionalProperties : {};
}

function grouped(type: string): string {
  return type.includes(' | ') ? `(${type})` : type;
}

function comment({ description, default: usual }: Schema, indent: string): string {
  const sentences = [
    ...(description === undefined ? [] : [description]),
    ...(usual === undefined ? [] : [`Default ${JSON.stringify(usual)}.`]),
  ];
  if (sentences.length === 0) return '';
  const text = sentences.join(' ');
  const line = `${indent}/** ${text} */\n`;
  if (line.length <= 100) return line;
  return `${indent}/**\n${wrapped(text, `${indent} * `)}${indent} */\n`;
}

function wrapped(text: string, prefix: string): string {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && prefix.length + last.length + word.length < 100) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else lines.push(word);
  }
  return lines.map((line) => `${prefix}${line}\n`).join('');
}

if (import.meta.main) {
  for (const [target, text] of sdkTypes()) writeFileSync(target, text);
}
