/**
 * Writes the SDK's types of requests and answers from the protocol's schemas, so that nothing is
 * copied by hand. Published packages carry plain types, which need no other package.
 *
 *   node scripts/sdk-types.ts      writes packages/sdk/src/task/api-types.ts
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { SDK_SCHEMAS } from '@sluice/protocol/sdk-schemas';

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
export const TARGET = path.join(ROOT, 'packages/sdk/src/task/api-types.ts');

const HEADER = `// Made by scripts/sdk-types.ts from the schemas of the protocol. Change those, and run it again.
`;

/** The text of the whole file. */
export function sdkTypes(): string {
  const schemas = Object.entries(SDK_SCHEMAS).map(([name, schema]) => {
    return [name, JSON.parse(JSON.stringify(schema)) as Schema] as const;
  });
  const names = new Map(schemas.map(([name, schema]) => [shapeOf(schema), name]));
  const text = schemas.map(([name, schema]) => declaration(name, schema, names)).join('');
  const args = ['format', `--stdin-file-path=${TARGET}`];
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
    const type = typeOf(schema, new Map(), '');
    return `\n${about}export type ${name} = ${type};\n`;
  }
  return `\n${about}export interface ${name} ${fieldsOf(schema, names, '')}\n`;
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
  if (schema.const !== undefined) return `'${String(schema.const)}'`;
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
      if (schema.properties !== undefined) return fieldsOf(schema, names, indent);
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

if (import.meta.main) writeFileSync(TARGET, sdkTypes());
